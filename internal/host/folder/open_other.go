//go:build !unix

package folder

// Both are nothing where files cannot be pipes.
const nonBlocking, noFollow = 0, 0
