// Package sweep says what is to be measured, plans it and carries it out.
//
// A [Spec] is a whole sweep, typed and checked: the program, its load, the settings
// under test and how often. It becomes a journal.Plan: every arm in every block, the
// blocks' orders drawn from a seed, so that a drift of the machine falls on all arms
// alike, and one arm of each group twice, so that the noise is known. A [Runner],
// which lives elsewhere (this machine, pods, a model), turns one [Task] into one
// trial; [Execution] hands it what the journal still lacks and appends what comes
// back. The package starts no process and offers no load.
package sweep
