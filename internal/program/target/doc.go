// Package target is the program under test: its start, the port that it listens
// at, how long it is waited for until it is ready to be measured, and why it never
// was.
//
// How it is kept within reach, in its cgroups and on its CPUs, and how nothing of
// it is left, is package supervisor's. What counts as ready is package ready's.
package target
