package session

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// HoldsJournal reports whether the results folder holds a journal. With anything else it is refused.
func HoldsJournal(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, &Refusal{fmt.Errorf("--out: %w; choose a directory", err)}
	case slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == journal.Name }):
		return true, nil
	case len(entries) == 1 && entries[0].Name() == logs:
		// Of a run that ended before its first trial.
	case len(entries) > 0:
		return false, &Refusal{fmt.Errorf("--out %s holds other files and no %s: choose a new or an empty directory", dir, journal.Name)}
	}
	return false, nil
}

// claim creates the results folder where --out names none. Another run may have taken its name since New.
func (s *Session) claim() error {
	if s.options.Dir != "" {
		return nil
	}
	dir, err := folder.MakeNew(s.byTime())
	if err == nil {
		s.Dir, s.options.Dir = dir, dir
	}
	return err
}

// openJournal creates the results folder and its journal, or opens the one that is to be completed.
func (s *Session) openJournal(on Events) error {
	if err := s.claim(); err != nil {
		return fmt.Errorf("cannot create the results directory: %w; choose another with --out", err)
	}
	exists, err := HoldsJournal(s.Dir)
	if err != nil {
		return err
	}
	dir, err := folder.Make(s.Dir)
	if err != nil {
		return fmt.Errorf("cannot create the results directory: %w; choose another with --out", err)
	}
	w, err := s.journalIn(dir, exists, on)
	if err != nil {
		dir.Close()
		return err
	}
	for _, b := range s.more {
		if err := w.AppendBlock(b); err != nil {
			w.Close()
			dir.Close()
			return err
		}
	}
	s.folder, s.journal, s.more = dir, w, nil
	return nil
}

func (s *Session) journalIn(dir *folder.Dir, exists bool, on Events) (*journal.Writer, error) {
	if exists {
		w, err := journal.Open(dir, s.options.Secrets.Quoted)
		switch {
		case errors.Is(err, journal.ErrEmpty):
			// A run that was killed, or whose machine died, before it wrote its header.
		case err != nil:
			return nil, err
		default:
			return w, s.goOn(w, on)
		}
	}
	w, err := journal.Create(dir, s.Header, s.options.Secrets.Quoted)
	if err != nil {
		return nil, fmt.Errorf("cannot start the journal: %w", err)
	}
	return w, nil
}

// goOn takes over what the journal holds; when it may not, it closes it.
func (s *Session) goOn(w *journal.Writer, on Events) error {
	c := w.Contents()
	err := s.adopt(c.Header)
	if err == nil && s.Plan.Racing() && s.Plan.Budget() != c.Header.Plan.Budget() { // which the header does not have
		err = w.AppendBudget(s.Plan.Budget())
	}
	if err != nil {
		w.Close()
		return err
	}
	s.count(c)
	if c.Torn > 0 && on.Torn != nil {
		on.Torn(s.Dir+"/"+journal.Name, c.Torn)
	}
	return nil
}

// Look takes over what the folder's journal holds, as Run does, and changes nothing there.
func (s *Session) Look() error {
	exists, err := HoldsJournal(s.Dir)
	switch {
	case err != nil:
		return err
	case !exists || errors.Is(s.earlier.err, journal.ErrEmpty):
		return nil
	case s.earlier.err != nil:
		return s.earlier.err
	}
	if err := s.adopt(s.earlier.contents.Header); err != nil {
		return err
	}
	s.count(s.earlier.contents)
	return nil
}

func (s *Session) count(c *journal.Contents) {
	have := record(c)
	missing := plan.Next(s.Header, have).Tasks
	s.Done, s.Ended = have.Done(missing), len(missing) == 0
}

// adopt takes over the journal's plan when it is the one that was asked for.
func (s *Session) adopt(then journal.Header) error {
	wanted, now := s.Plan, s.Header
	asked := wanted.Budget()
	if wanted.Racing() { // one that ended before its answer may continue with more
		wanted = wanted.With(then.Plan.Budget())
	}
	now.Plan = wanted
	compiles := now.Target.Kind == journal.KindGoBench || now.Target.Build != ""
	if compiles && (now.Target.SHA256 == "" || then.Target.SHA256 == "") { // it is not compiled, or was not
		now.Target.SHA256 = then.Target.SHA256
	}
	if sameFolder(now.Target.Directory, then.Target.Directory) { // by a link
		now.Target.Directory = then.Target.Directory
	}
	if differs := differing(now, then); differs != nil {
		if _, err := s.Filled(); err != nil { // its values are not known
			return err
		}
		return &Refusal{fmt.Errorf("%s has a run that differs in %s; its command was: %s; repeat that command, or choose another --out",
			s.Dir, phrase.And(differs), phrase.Clean(then.Spec.Shell()))}
	}
	if wanted.Racing() {
		wanted = wanted.With(asked)
	}
	s.Plan, s.Header.Plan = wanted, wanted
	return nil
}

// differing is what keeps a run from being resumed; nil: nothing does. What was asked for in
// another way and came to the same does not, such as a default that is given now.
func differing(now, then journal.Header) (names []string) {
	now, then = compared(now), compared(then)
	same := reflect.DeepEqual([]any{now.Target, now.Load, now.Plan, now.Given}, []any{then.Target, then.Load, then.Plan, then.Given}) && sameAsked(now.Spec, then.Spec)
	if !same {
		names = askedOtherwise(now.Spec, then.Spec)
	}
	for _, r := range resolved {
		named := slices.ContainsFunc(append(r.flags, r.name), func(name string) bool { return slices.Contains(names, name) })
		if !named && !reflect.DeepEqual(r.of(now), r.of(then)) {
			name := r.name
			if list, ok := r.of(then).([]string); ok {
				name += fmt.Sprintf(" (now %s, then %s)", shown(r.of(now).([]string)), shown(list))
			}
			names = append(names, name)
		}
	}
	if names == nil && !same {
		names = []string{"what this version of procfit makes of the command"}
	}
	return names
}

// compared is a header that is the same for a command with credentials and for one with variables in
// their place.
func compared(h journal.Header) journal.Header {
	h.Target.Command, h.Target.Against = phrase.Each(h.Target.Command, masked), phrase.Each(h.Target.Against, masked)
	h.Target.URL, h.Load.Command, h.Load.Requests = masked(h.Target.URL), masked(h.Load.Command), phrase.Each(h.Load.Requests, masked)
	if b := h.Target.Beside; b != nil {
		h.Target.Beside = new(*b)
		h.Target.Beside.Command = phrase.Each(b.Command, masked)
	}
	h.Load.BodyBytes = 0 // its sum is compared
	if g := h.Load.GRPC; g != nil {
		h.Load.GRPC = new(*g)
		h.Load.GRPC.DataBytes = 0
	}
	return h
}

func sameFolder(a, b string) bool {
	now, err := os.Stat(a)
	then, gone := os.Stat(b)
	return err == nil && gone == nil && os.SameFile(now, then)
}

func shown(values []string) string { return cmp.Or(phrase.Clean(strings.Join(values, " ")), "none") }

// asIs are the fields that come to what they say, and nothing else in a header shows.
var asIs = []string{"prepare", "ready", "header", "tls"}

func sameAsked(a, b spec.Spec) bool {
	return !slices.ContainsFunc(asIs, func(name string) bool { return !slices.Equal(a.Get(name), b.Get(name)) })
}

func askedOtherwise(now, then spec.Spec) (names []string) {
	if now.Command != then.Command || !slices.Equal(now.Program, then.Program) {
		names = append(names, "the command")
	}
	if !slices.Equal(now.Operands, then.Operands) {
		names = append(names, "the words before the flags")
	}
	fields := plan.NewFlags().Fields()
	for _, c := range spec.Diff(then, now) {
		if slices.ContainsFunc(fields, func(f field.Field) bool { return f.Name == c.Name && f.Group != field.Output }) {
			names = append(names, "--"+c.Name)
		}
	}
	return names
}

// resolved is what a header has that no flag says, or what flags came to: it is not named
// where they differ themselves. What a user reads of it in no command is a []string, and is quoted.
var resolved = []struct {
	name  string
	flags []string
	of    func(h journal.Header) any
}{
	{"the executable or the template of the pods", nil, func(h journal.Header) any { return built(h, false) }},
	{"the code of the benchmarks, or what compiles it", nil, func(h journal.Header) any { return built(h, true) }},
	{"the Go version that procfit, its own target, is built with", nil, goOfItself},
	{"the directory", nil, func(h journal.Header) any { return []string{h.Target.Directory} }},
	{"GOGC, GOMEMLIMIT or GODEBUG", nil, func(h journal.Header) any { return h.Target.Environment }},
	{"the values of --env or --header", []string{"--env", "--header"}, func(h journal.Header) any { return h.Given }},
	{"the process", nil, func(h journal.Header) any { return h.Target.Attached }},
	{"--namespace", nil, func(h journal.Header) any { return h.Target.Namespace }},
	{"--container", nil, func(h journal.Header) any { return h.Target.Container }},
	{"the program next to the target", []string{"--beside"}, func(h journal.Header) any { return h.Target.Beside }},
	{"--load-from", nil, func(h journal.Header) any { return h.Load.Tunnelled() }},
	{"the CPUs of the target", nil, func(h journal.Header) any { return h.Target.CPUs }},
	{"the CPUs of the load", nil, func(h journal.Header) any { return []any{h.Load.CPUs, h.Load.Sizing} }},
	{"the file of --body", []string{"--body"}, func(h journal.Header) any { return h.Load.BodySHA256 }},
	{"the requests", []string{"--url", "--requests"}, func(h journal.Header) any { return h.Load.RequestsSHA256 }},
	{"--timeout", nil, func(h journal.Header) any {
		return []any{h.Load.ReadyTimeoutSeconds, h.Load.RequestTimeoutSeconds, h.Load.TrialTimeoutSeconds}
	}},
	{"--repeats", nil, func(h journal.Header) any { return []any{h.Plan.Strategy, h.Plan.Blocks} }},
	{"--seed", nil, func(h journal.Header) any { return h.Plan.Seed }},
	{"the host", nil, func(h journal.Header) any { return hardware(h.TargetHost) }},
}

// built is the SHA-256 of benchmarks, or of anything else; empty: it is the other one.
func built(h journal.Header, benchmarks bool) string {
	if (h.Target.Kind == journal.KindGoBench) != benchmarks {
		return ""
	}
	return h.Target.SHA256
}

// goOfItself is the Go version of procfit if that is its own target, with no setting's Go; nil elsewhere.
func goOfItself(h journal.Header) any {
	if h.Target.BuiltIn == "" || slices.ContainsFunc(h.Plan.Settings, func(a journal.Setting) bool { return a.GoVersion != "" }) {
		return nil
	}
	return h.Tool.GoVersion
}
