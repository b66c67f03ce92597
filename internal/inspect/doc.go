// Package inspect is the one list of what is shown of a Go process: its columns. The
// tables of procfit ps, its live view, its JSON and the exporter choose from them.
//
// # Model
//
// A column has a name, which sorts, filters, is the key in JSON and in capitals is the
// heading; a rank, by which columns go where there is no room for all; and a value of a
// process: a number in its unit, a text, or nothing where it is not known. Which
// GOMAXPROCS suits a program, and how far that can be told, is decided in Fit alone.
//
// # Limits
//
// Counters are not columns: what only grows, and what belongs to a group and not to a
// process, is in the exporter's metrics.
package inspect
