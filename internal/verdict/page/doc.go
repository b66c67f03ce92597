// Package page turns a verdict.Result into a View: the same facts worded, scaled
// and laid out as tables and abstract charts, so that a renderer only places
// them. It decides nothing: the codes of package verdict have their words here, by noun (sentence,
// reason, settle, warning, gatewords), in the View and in result.json alike. The terminal, Markdown and HTML show one View, and so never disagree.
//
// Every string of a View is plain text on one line, except scripts and snippets;
// control and formatting characters that came from outside are written as
// escapes, so that no command line can move a terminal's cursor. Each renderer
// still escapes for its own syntax.
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
