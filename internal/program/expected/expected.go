// Package expected reads and writes what is kept with a program of a verdict: a
// rule.Expected as JSON, in one line.
//
// # Model
//
// The same text is in the annotation of a pod, in the variable PROCFIT_EXPECTED of a process
// and in a file next to a program. Package rule compares it with what runs. procfit.yaml
// has the same values as keys of its own; they go through [Check] too.
//
// # Limits
//
// Whoever may write the annotation or the file can claim any value from 1 to 4096. Nothing here sets
// it or runs a command; procfit set PID recommended and procfit check --fix use it.
package expected

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Where a program has its expected value.
const (
	Annotation = "procfit.github.io/expected" // of a pod; with a dot and a container's name after it, of that container
	Variable   = "PROCFIT_EXPECTED"           // of a process
	Suffix     = ".expected.json"             // of a file, after the path of the program
)

// MostBytes is longer than any text. A command line may be long.
const MostBytes = 16 << 10

// mostProcs is the largest GOMAXPROCS that procfit measures or sets. A program would take gigabytes
// for one far above it, or crash.
const mostProcs = 4096

// The longest words, in bytes.
const (
	longestWord    = 200
	longestCommand = 8 << 10
)

func Parse(text []byte) (*rule.Expected, error) {
	if len(text) > MostBytes {
		return nil, fmt.Errorf("longer than %d bytes", MostBytes)
	}
	var e rule.Expected
	var given struct {
		LimitCPUs json.RawMessage `json:"limit_cpus"`
	}
	if err := cmp.Or(json.Unmarshal(text, &e), json.Unmarshal(text, &given)); err != nil {
		if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && kind.Field != "" {
			return nil, fmt.Errorf("%s: invalid value %s", phrase.Clip(kind.Field, 40), kind.Value)
		}
		return nil, errors.New("it is not valid JSON")
	}
	if e.Schema != rule.ExpectedSchema {
		return nil, fmt.Errorf("schema %q: expected %s", phrase.Clip(e.Schema, 40), rule.ExpectedSchema)
	}
	err := Check(e)
	if err == nil && given.LimitCPUs == nil {
		err = errors.New("limit_cpus is missing: expected a number of CPUs, or null for no limit")
	}
	return &e, err
}

// Text is what Parse reads.
func Text(e rule.Expected) []byte {
	e.Schema = rule.ExpectedSchema
	b, _ := json.Marshal(e) // of texts and finite numbers
	return b
}

// Check reports what is not valid, by its key.
func Check(e rule.Expected) error {
	_, day := time.Parse(time.DateOnly, e.Measured)
	switch {
	case e.Procs < 1 || e.Procs > mostProcs:
		return fmt.Errorf("procs %d: expected 1 to %d", e.Procs, mostProcs)
	case e.LimitCPUs != nil && !positive(*e.LimitCPUs):
		return fmt.Errorf("limit_cpus %g: expected a number of CPUs above 0, or null", *e.LimitCPUs)
	case e.CPUs < 1 || e.CPUs > math.MaxInt32:
		return fmt.Errorf("cpus %d: expected 1 or more", e.CPUs)
	case e.GoVersion != "" && !version.IsValid(e.GoVersion):
		return fmt.Errorf("go_version %q: expected a Go version such as go1.26", phrase.Clip(e.GoVersion, 40))
	case day != nil:
		return fmt.Errorf("measured %q: expected a day such as 2026-01-31", phrase.Clip(e.Measured, 40))
	}
	if r := e.Requests; r != nil && !(positive(r.Min) && r.Max >= r.Min && positive(r.Max)) {
		return fmt.Errorf("requests_per_second %g to %g: expected two numbers above 0, the lower one first", r.Min, r.Max)
	}
	command := 0
	for _, w := range e.Again {
		command += len(w) + 1
	}
	if command > longestCommand {
		return fmt.Errorf("again: longer than %d bytes", longestCommand)
	}
	for _, w := range append([]string{e.Program, e.Commit}, e.Again...) {
		if !printable(w) {
			return errors.New("a text in it is not printable")
		}
	}
	if len(e.Program) > longestWord || len(e.Commit) > longestWord {
		return fmt.Errorf("program or commit is longer than %d bytes", longestWord)
	}
	return nil
}

func positive(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
