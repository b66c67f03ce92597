// Package observe finds out from outside which processes matter and what they
// run with: the one that listens, the busiest Go
// program, its live GOMAXPROCS; and all of it together as the Subject that package
// rule judges.
//
// Everything is read from /proc at one instant; processes come and go meanwhile,
// and one that is gone is left out, not an error. Needs Linux, and for processes
// of other users CAP_SYS_PTRACE.
package observe
