// Package sweep plans the trials of one run and carries them out.
//
// A Matrix of settings becomes a journal.Plan: every arm in every block, the
// blocks' orders drawn from a seed, so that a drift of the machine falls on all
// arms alike, and one arm of each group twice, so that the noise is known. A
// Runner, which lives elsewhere (this machine, pods, a model), turns one Task
// into one trial; Execute hands it what the journal still lacks and appends what
// comes back. The package knows nothing of processes or load.
package sweep
