//go:build race

package need

// Raced says that this is the race detector's build, in which code is ten times as slow.
const Raced = true
