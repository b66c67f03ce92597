// Package check reads what a team has in its files and says which GOMAXPROCS each Go program there
// will get, and what is wrong with that.
//
// # Model
//
// [Run] hands every file of some paths to the [Checker]s that want it. A Checker makes
// rule.Subjects, has package rule judge them, and tells a [Sink] of each [Value] that a program
// will get, [Finding], [Problem], and [Ignore] by which a user has answered a finding. When all
// files are read, Run sets the ignores against the findings and gives a sorted [Report], which
// package output renders.
//
// A [Change] is a fix as bytes to replace. A [Fixer] runs the whole check again on fixed copies,
// and writes a file only when what was to be fixed is gone and nothing worse has come.
//
// # Limits
//
//   - A folder is entered but for .git, vendor, node_modules, testdata and what git ignores by
//     .gitignore files and .git/info/exclude. Links to folders are followed only if they are
//     named.
package check

import (
	"context"
	"errors"

	"github.com/procfit/procfit/internal/program/rule"
)

// Checker judges files of one kind. File and Wants are called from several goroutines at once.
type Checker interface {
	// Wants tells by name, size and first bytes whether a file is of this kind; several Checkers
	// may.
	Wants(f *File) bool

	// File looks at one file. The error is that file's Problem, and the rest is still checked.
	// ErrOther and ErrSkipped are for a file that was not checked.
	File(ctx context.Context, f *File, to Sink) error

	// Finish is called once, after all files, and tells what only all of them together tell.
	Finish(ctx context.Context, to Sink) error
}

// NoManifest says what a file of YAML or JSON does not hold.
const NoManifest = "no Kubernetes object, compose service, ECS task or Nomad job in it"

// ErrOther: its name is that of a manifest and its content is not. ErrSkipped: a Note says why.
var (
	ErrOther   = errors.New(NoManifest)
	ErrSkipped = errors.New("skipped")
)

// Sink takes what Checkers find, in any order and from several goroutines.
type Sink interface {
	Value(Value)
	Finding(Finding)
	Problem(Problem)
	Note(Note)
	Ignore(Ignore)
}

// Value is the GOMAXPROCS that one program will get.
type Value struct {
	rule.Place
	Procs     *int   `json:"procs"`                 // nil where it is no number that is known
	Text      string `json:"text"`                  // in words: "2", "the node's CPUs"
	Source    string `json:"source"`                // where it comes from, in words
	Open      string `json:"open,omitempty"`        // what was not read and may decide it, as a clause after "unless"; "": the value is known
	GoVersion string `json:"go_version,omitempty"`  // "" where it is not known
	Module    string `json:"main_module,omitempty"` // the main module of a program that was read; "" of what is none
	Go        bool   `json:"go"`                    // it is known that this is a Go program, or meant to be one
	Unjudged  string `json:"-"`                     // why no rule judges it, in words; "": all do
	Unit      *Unit  `json:"-"`                     // nil: it is no unit of a manifest
}

// Unit is what the value of a container, a service or a task follows from.
type Unit struct {
	rule.Observed
	Called string // its container or service, as --container names it; "": an image
	Config string // the ConfigMap that the variable is drawn from; "": none
	Open   string // what was not read and may decide the value whatever the program does, as a clause after "unless"
	From   string // where its program is known from
}

// Finding is a rule that fired, and the change that would fix it.
type Finding struct {
	rule.Finding
	Change *Change // nil where there is none that is safe
}

// Problem is what could not be read or understood; it makes the exit code 3.
type Problem struct {
	Path      string `json:"path"`
	Line      int    `json:"line,omitempty"` // 0: not of one line
	Column    int    `json:"column,omitempty"`
	Message   string `json:"message"`
	Unwritten bool   `json:"-"` // the file was checked, and its fix could not be written
}

// Note is what the user should know of a place that was left out, without being at fault.
type Note struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// NewFinding is a finding of a rule that does not judge Subjects, by its ID.
func NewFinding(id string, at rule.Place, message, fix string) Finding {
	f := Finding{Finding: rule.Finding{Rule: id, Message: message, Fix: fix, Place: at}}
	if r, ok := rule.Find(id); ok {
		f.Severity = r.Severity
	}
	return f
}
