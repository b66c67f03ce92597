// Package contest reads a journal as races: one heat for each group of arms, whose
// settings can be compared with each other. What is planned next and what is judged in
// the end both begin here, so that they rest on the same figures.
//
// A heat counts values of GOMAXPROCS: a trial of the unset arm is one of the value that
// the program came to by itself, which is read from the trials; where no trial tells it
// (a program that is not Go, an unreadable one), it is what today's runtime would
// choose. The old command of a gate is in no heat.
package contest
