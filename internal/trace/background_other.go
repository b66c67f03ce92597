//go:build !unix || (linux && !portable)

package trace

// inBackground is false: on Linux the supervisor has a session of its own, and Windows has no such thing.
const inBackground = false
