// Package toolchain gets Go toolchains of any release, from Go 1.2 to today's,
// and builds programs with them.
//
// # Model
//
// The module proxy has the releases as versions of golang.org/toolchain, also
// those from long before it (https://go.dev/doc/toolchain). The go command on
// PATH fetches them into the module cache, checks their sums and keeps two
// processes from doing so at once; Fetch asks it to, and finds the newest release
// of a bare 1.4. What is built then runs the toolchain's own go command.
//
// Build compiles one file of the standard library alone, the same way wherever
// it is called: no go env file, no GOFLAGS, no cgo, outside of any workspace. A
// go command before 1.21 would stumble over today's settings, and a program in a
// workspace gets another default GOMAXPROCS than its go line says.
// BuildPackage compiles a package of the user's, with the user's settings.
//
// # Limits
//
// The go command on PATH must be 1.21 or later. A proxy lacks some releases (Go
// 1.0, 1.1 and 1.3 were not to be had in 2026), and before Go 1.16 there are few
// systems that it has them for.
package toolchain
