//go:build unix && (!linux || portable)

package trace

// inBackground is that a command is in a process group of its own, in our session: the terminal sends it
// SIGTTIN when it reads.
const inBackground = true
