// Package text lays an execution trace out for a terminal: a row of letters for
// each P over time, who was stolen from whom, and the goroutines one by one.
package text
