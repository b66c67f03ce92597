// Package topology knows how the CPUs of a machine lie: which are threads of one core,
// in which sockets and at which nodes of memory the cores are, and which of them are
// made for performance and which for efficiency. It shares the cores out between a
// program and the load on it, and names CPUs in these terms.
//
// Threads of a core share what computes: a load on one thread slows the program on
// the other, so that a core is given whole. What cannot be read counts as a core of
// one thread, as on a machine without SMT. To be shared out, cores are taken for alike;
// of a machine with fast and slow ones the load gets those of the highest numbers,
// which are the slow ones where Linux numbers the fast ones first.
package topology
