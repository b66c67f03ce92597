// Package journal is the record of one run: a header line, then one line a
// trial, each appended and synced as soon as the trial ends. A race, which chooses
// what to measure by what it has measured, writes a line before each block too, and a canary
// one at its end. It is the only thing that package verdict reads, so what is not in the
// journal does not count.
//
// The format is JSON Lines in lower snake case with units in the names; a value
// that was not measured is null, never zero. Fields may be added to a schema; a
// change of meaning makes a new one, and a reader refuses a version that it does
// not know. What becomes of a trial is said in codes with figures, so that nobody
// has to read sentences; the reason of an invalid trial stands beside its code in
// words, for whoever reads the file.
//
// A journal may end in a torn line when the machine died in the middle of a
// write. Open cuts that line off; Read ignores it and says so. Nothing else is
// ever rewritten.
package journal
