// Package automaxprocs holds the library against go.uber.org/automaxprocs
// v1.6.0: what the policy Automaxprocs says against what that module does, and
// the cost of the one Set beside that of the other, in one run:
//
//	go test -run '^$' -bench . -count 6
//
// It is a module of its own, so that nothing else requires the other module.
package automaxprocs
