// Package lab holds the practice programs: small Go programs whose behaviour
// under GOMAXPROCS is known, from documents that others measured before.
//
// # Model
//
// Each program is one file, programs/ID/main.go, written to be read: the
// standard library alone, Go 1.21, its own func main. Here the file is package
// ID, so that procfit runs it without a toolchain (Serve). The same file is
// embedded, and Source gives it as a standalone program: its package clause
// says main instead of ID, and nothing else differs.
//
// # Limits
//
// What Serve starts is a program built as procfit was; the default GOMAXPROCS
// of a standalone build follows the toolchain and the go line of the module
// that it is put in. A go line below 1.25 makes the runtime ignore CPU limits.
package lab
