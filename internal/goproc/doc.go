// Package goproc reads Go programs from outside: on disk what the linker wrote
// into them, live the GOMAXPROCS that the runtime has in memory.
//
// The live value is the int32 runtime.gomaxprocs. Its address comes from the
// symbol table or, in a stripped program, from machine code: functions that are
// linked into every Go program and read that variable are found by name in the
// runtime's own function table (pclntab), which no stripping removes, and their
// 4-byte loads vote. The value is then one pread of /proc/PID/mem. The target is
// not stopped, and nothing is ever written to it: writing gomaxprocs hangs a
// program, since its Ps are not resized with it.
//
// A file is analysed once and kept in a Cache. A file is never trusted: every
// read is bounded, and what does not add up is an error.
//
// Limits: live values need Linux; decoding needs amd64 code (symbols work on
// arm64 too) of Go 1.18 or newer. A Go library in a C host, and a program
// started through an explicit ld.so, are not recognised, since /proc/PID/exe is
// then not the Go file. GOMAXPROCS read here is that of one instant.
package goproc
