// Package terminal lays text out for a terminal: lines of at most so many
// columns, wrapped behind a prefix, in a few of the basic colours.
//
// A character is taken to be one column wide; wide scripts (CJK) push what
// follows them to the right. Text from outside must be printable already.
package terminal
