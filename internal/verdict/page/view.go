// Package page makes documents of a verdict.Result: sentences, tables and charts that know no
// format. New makes a View of a Result, Brief is the document for a terminal, and Report that
// of the files; show/text, show/markdown and show/html write them. The package decides
// nothing: it has the words for the codes of package verdict, by noun (sentence, reason,
// settle, warning, gatewords), in the documents and in result.json.
//
// Every string is plain text on one line, except scripts and snippets; control and formatting
// characters that came from outside are written as escapes, so that no command line can move
// a terminal's cursor.
//
// Charts hold positions as fractions of their axis. Numbers carry three
// significant digits (two for percentages): trials of a few per cent spread do
// not support more.
//
// Where numbers come from (measured here, in Kubernetes, simulated) is with the
// verdict, with each metric and in the environment.
//
// A View is a function of its Result alone: no clock, no environment, no random
// numbers. What only the user can know (is this load like production's?) is
// answered with "only you know", never guessed.
package page

import "github.com/procfit/procfit/internal/show/document"

// View is a Result in words, tables and charts: what Brief and Report make documents of.
type View struct {
	Name     string
	Started  string
	Alert    string // the warnings in one line; empty without
	Progress string // "31 of 48 trials ran …"; empty when all did
	Verdict  Verdict
	Gate     *Gate
	Summary  *document.Table // one row a group; nil with a single group
	Overview document.Cards  // the same in small curves, on scales that all of them share
	Groups   []Group
	Warnings document.Notes // of the run as a whole

	Environment []Facts
	Command     string // the program under test, quoted for a shell
	Against     string // the old command of a gate
	Sweep       string // the procfit command line
	Reproduce   string // reproduce.sh
	Settings    string // procfit.yaml; empty: there is none
}

// Verdict is a recommendation in words.
type Verdict struct {
	State    document.Tone
	Label    string // the kind of verdict, two or three words
	Answer   Answer
	Sentence string
	Reasons  []string
	Settle   []document.Item // what would settle a "unknown"
	Context  string          // what it was measured on: CPU, quota, Go version, blocks
}

// Group is one set of comparable settings.
type Group struct {
	ID         string // unique in the View, fit for an anchor
	Title      string
	Verdict    Verdict
	Checklist  document.Checks
	Mistakes   document.Checks
	Checked    string           // the checklist in one line
	Mistaken   string           // the mistakes in one line
	Throughput *document.Chart  // nil where nothing valid was measured
	Latency    *document.Chart  // nil where no latency was measured
	OverTime   []document.Chart // of a canary
	Evidence   []document.Chart
	Curves     document.Table // what the curves show
	Levels     string         // what its numbers are
	Benchmarks *Benchmarks
	Table      document.Table
	Metrics    *document.Table
	Requests   *document.Table // by request, where there is a mix
	Facts      document.Pairs
	Warnings   document.Notes
	Paste      Paste
}

// Benchmarks are the Go benchmarks of a group, each by itself.
type Benchmarks struct {
	Note   string
	Charts []document.Chart
	Table  document.Table // a row a benchmark, a column a value of GOMAXPROCS
}

// Paste is what to put where.
type Paste struct {
	Lead     string // "nothing: …", or what the snippets do
	Snippets document.Snippets
}

// Gate is the answer of procfit compare. Its sentence is empty where the View's verdict is
// the gate's.
type Gate struct {
	State    document.Tone
	Label    string // passed, not met, or cannot be judged
	Sentence string
	Table    document.Table
}

// Facts are what is known of one thing.
type Facts struct {
	Title string
	document.Pairs
}
