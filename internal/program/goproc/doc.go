// Package goproc reads Go programs from outside: on disk what the linker wrote
// into them, live what the runtime has in memory: GOMAXPROCS, the number of CPUs
// that it counted, whether GOMAXPROCS was set, the histogram of scheduling
// latencies, and what the garbage collector has done.
//
// These are the variables runtime.gomaxprocs, ncpu (numCPUStartup) and fields of
// sched. Their addresses come from the symbol table or, in a stripped program, from
// machine code: functions that are linked into every Go program and use them are
// found by name in the runtime's own function table (pclntab), which no stripping
// removes, and what they do with variables is decoded and compared. The offsets in
// sched are known for each release, and are not believed alone: the symbol must
// have that release's size, or the code must use every field at its offset; what is
// read must be possible. Where anything does not add up, the value is not known.
//
// The collector's accounting, in memstats and work, is found in another way: by what must
// be true of it, which nothing else among a program's variables fulfils by chance.
//
// The values are then two preads of /proc/PID/mem. The target is not stopped, and
// nothing is ever written to it: writing gomaxprocs hangs a program, since its Ps
// are not resized with it.
//
// A file is analysed once and kept in a Cache. A file is never trusted, as it may be
// another user's, written to harm who reads it: every read is bounded, and all reads
// of one file together; tables are read in pieces, names and texts up to a size; and
// what does not add up is an error. The bounds come from real programs, the largest
// of 707 MB.
//
// Limits: live values need Linux; decoding needs amd64 or arm64 code of Go 1.18 or
// newer; docs/LIVE.md has the releases and what can be read of each. A Go library
// in a C host, and a program started through an explicit ld.so, are not recognised,
// since /proc/PID/exe is then not the Go file. A process in a time namespace that
// is ahead of ours shows nothing of sched. The values are those of one instant, or
// of two a few microseconds apart.
package goproc
