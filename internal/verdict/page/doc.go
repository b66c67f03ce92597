// Package page makes documents of a verdict.Result: the same facts worded, scaled and laid
// out as tables and charts that know no format. New words a Result, Brief is what a terminal
// gets of it, Report what its files have; show/text, show/markdown and show/html write them.
// It decides nothing: the codes of package verdict have their words here, by noun (sentence,
// reason, settle, warning, gatewords), in the documents and in result.json.
//
// Every string is plain text on one line, except scripts and snippets; control and formatting
// characters that came from outside are written as escapes, so that no command line can move
// a terminal's cursor.
//
// Charts hold positions as fractions of their axis. Numbers carry three
// significant digits (two for percentages): trials of a few per cent spread do
// not support more.
//
// Where figures come from (measured here, in Kubernetes, simulated) stands with the
// verdict, with each figure and in the environment.
//
// A View is a function of its Result alone: no clock, no environment, no random
// numbers. What only the user can know (is this load like production's?) is
// answered with "only you can tell", never guessed.
package page
