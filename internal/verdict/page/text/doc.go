// Package text lays a page.View out for a terminal: the verdict, both curves
// as dots on intervals, a table, the warnings. It computes nothing but columns.
//
// A character is taken to be one column wide; names in wide scripts (CJK) push
// what follows them to the right.
package text
