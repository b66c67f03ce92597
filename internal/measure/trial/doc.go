// Package trial judges one trial: from what a Runner saw of it, whether it proves
// anything, as a code with its reason, and what weakens it, as coded warnings. It is
// pure: it starts nothing and reads nothing, so that every Runner (this machine, pods,
// a model) judges alike.
//
// A trial is invalid when the target ran at another GOMAXPROCS than asked, when too
// many requests failed or were never answered, when a replica answered nothing any
// more, or when a figure is missing that comparisons need. What could not be proven,
// such as the GOMAXPROCS of a program that cannot be read, is neither a match nor a
// fault: the trial stays valid and carries a warning.
package trial
