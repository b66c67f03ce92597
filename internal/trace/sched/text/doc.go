// Package text lays a view of a scheduler trace out for a terminal: the reading,
// each quantity over time in two lines, each P's queue as a bar, the other
// readings with what to do. It computes nothing but columns.
package text
