//go:build !unix

package folder

// nonBlocking is nothing where files cannot be pipes.
const nonBlocking = 0
