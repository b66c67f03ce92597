// Package journal is the record of one run: a header line, then one line a
// trial, each appended and synced as soon as the trial ends. It is the only
// thing that package stat reads, so what is not in the journal does not count.
//
// The format is JSON Lines in lower snake case with units in the names; a value
// that was not measured is null, never zero. The schema is
// "procfit.journal/v1": fields may be added to it, a change of meaning makes a
// v2, and a reader refuses a version that it does not know.
//
// A journal may end in a torn line when the machine died in the middle of a
// write. Open cuts that line off; Read ignores it and says so. Nothing else is
// ever rewritten.
package journal
