// Package trace reads what a Go program's scheduler tells of itself, from where it
// tells it, and shows it: the lines of GODEBUG=schedtrace, from a command that it
// runs so (Command) or from a log (ReadLog), and execution traces (ReadExecution).
//
// Both are read as they come, however long. A read that blocks ends with the
// context, and what was read until then is kept and can be shown. What was read can
// be written as text, as JSON or as a drawing, each to a writer; the caller knows of
// files and flags.
//
// Limits: a command runs under a supervisor on Linux alone; elsewhere what it starts
// may outlive it. On Windows a read of a pipe ends only when the pipe has something.
package trace
