// Package ps says of many processes what each Go program really runs with: a table
// with the findings below it, procfit.ps/v1, and the notes on what could not be
// read. It reads nothing: an observe.Snapshot comes in.
package ps
