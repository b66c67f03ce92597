// Package load describes a load, checks it, and holds what a run of it measured. It also
// finds figures in the output of other programs; package foreign reads what load
// generators print. Nothing here opens a connection: package engine does, and only who
// offers a load imports it.
package load
