// Package session is one run in one results folder: its lock, its journal, the plan
// or what is left of it, the Runner that carries it out, and what is told on the way.
// procfit sweep is one session; every sweep of the lab is another, and so is one in a
// cluster.
//
// New settles all questions and touches nothing; Run measures what the journal
// lacks. What came of it is in the journal: whoever asked for the run analyses and
// publishes that. A run that is ended, by Ctrl-C or by a failure, keeps all finished
// trials, and the same Spec in the same folder goes on from there.
package session
