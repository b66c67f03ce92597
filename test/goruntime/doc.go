// Package goruntime holds the policy go against the code of the runtimes
// themselves: the search for a program's own CPU limit and what becomes of it
// (internal/runtime/cgroup, runtime/cgroup_linux.go) is taken from the GOROOT of
// each release when the test runs, built as an ordinary program whose system calls
// see files in memory, and asked about the recorded worlds and many more that are
// drawn at random; and Go's own tests of that code are run against the policy.
//
// What a runtime does beyond that, the affinity and GOMAXPROCS in the environment,
// is held against real programs in test/vm.
package goruntime
