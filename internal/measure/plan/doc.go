// Package plan says what is to be measured, plans it and carries it out.
//
// A [Spec] is a whole sweep, typed and checked: the program, its load, the settings
// under test and how often. It becomes a journal.Plan, which a [Planner] carries on
// from whatever the journal holds: a grid has every setting in every block, and one
// setting of each group twice, so that the noise is known; a race asks the trials so
// far what to measure next, within a budget. Either draws the order within a block from
// a seed, so that a drift of the machine falls on all settings alike, and either gives
// the same for the same journal. A [Runner], which lives elsewhere (this machine, pods,
// a model), turns one [Task] into one trial; [Execution] hands it what the journal
// still lacks and appends what comes back. The package starts no process and offers no
// load.
package plan
