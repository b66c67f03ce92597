// Package target is the program under test: its start, the port that it listens
// at, when it is ready to be measured, and why it never was.
//
// How it is kept within reach, in its cgroups and on its CPUs, and how nothing of
// it is left, is package supervisor's.
//
// Ready asks the target itself, over a new connection each time, and sends
// nothing but a GET without headers of the user's. What counts as ready is in
// Ready's comment; that a server which answers 404 is ready too follows from not
// knowing its paths.
package target
