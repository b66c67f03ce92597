// Package explain says which GOMAXPROCS one program runs with, which one fits, and
// every reason: for people, as procfit.decision/v1, and for a what-if.
//
// It reads nothing: a rule.Subject comes in with all that was observed, the
// policies of the library decide, and package rule finds fault. What this package
// adds is the words and their order: the answer first, then the steps to it, then
// what to do.
package explain
