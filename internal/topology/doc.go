// Package topology knows which CPUs of a machine are threads of one core, and shares
// the cores out between a program and the load on it.
//
// Threads of a core share what computes: a load on one thread slows the program on
// the other, so that a core is given whole. What cannot be read counts as a core of
// one thread, as on a machine without SMT. Cores are taken for alike; of a machine
// with fast and slow ones the load gets those of the highest numbers, which are the
// slow ones where Linux numbers the fast ones first.
package topology
