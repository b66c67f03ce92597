package manifest

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
)

// Claims of a remedy: the value that it writes, and the one that a runtime chooses.
var (
	writes  = regexp.MustCompile(`(?:set|write) GOMAXPROCS=(\d+)|which makes it (\d+)`)
	chooses = regexp.MustCompile(`chooses (\d+)`)
)

// TestRemediesOfTheCorpus holds what every remedy of the corpus claims, also of files
// that are not fixed by us, against the policies: a value that it writes fits, and what
// it says that the runtime chooses is what the runtime chooses and fits too, or the
// remedy names the one that does.
func TestRemediesOfTheCorpus(t *testing.T) {
	tried := 0
	for _, path := range corpus(t) {
		b := must.Get(os.ReadFile(path))(t)
		e := expectationOf(t, string(b))
		c := New(e.options)
		r := must.Get(check.Run(context.Background(), check.Options{Paths: []string{path}, Checkers: []check.Checker{c}}))(t)
		units := map[rule.Place]*unit{}
		for _, u := range c.all() {
			at := u.at
			at.Line, at.Column = 0, 0
			units[at] = u
		}
		for _, f := range r.Findings {
			at := f.Place
			at.Line, at.Column = 0, 0
			u := units[at]
			if u == nil || f.Rule == "PF045" {
				continue // of the file, or a part of a limit that several share
			}
			tried += claims(t, path, u, f, e.options.NodeCPUs)
		}
	}
	if tried < 40 {
		t.Errorf("only %d claims", tried)
	}
}

func claims(t *testing.T, path string, u *unit, f check.Finding, nodeCPUs int) (tried int) {
	t.Helper()
	o := u.observed(nodeCPUs)
	o.Facts.Env = facts.Fact{State: facts.Absent}
	s := rule.NewSubject(o)
	fits := strconv.Itoa(s.Fit.Procs)
	for _, m := range writes.FindAllStringSubmatch(f.Fix, -1) {
		tried++
		if got := m[1] + m[2]; got != fits && f.Rule != "PF016" { // the quotes of a value that is meant
			t.Errorf("%s: %s %q writes %s, and %s fits", path, f.Rule, f.Fix, got, fits)
		}
	}
	if strings.Contains(f.Fix, "ignores it") && u.env.state != facts.Known {
		t.Errorf("%s: %s %q, of a value that is not known", path, f.Rule, f.Fix)
	}
	for _, m := range chooses.FindAllStringSubmatch(f.Fix, -1) {
		tried++
		if m[1] != strconv.Itoa(s.Unset()) {
			t.Errorf("%s: %s %q: the runtime chooses %d", path, f.Rule, f.Fix, s.Unset())
		}
		named := strings.Contains(f.Fix, "GOMAXPROCS="+fits) || strings.Contains(f.Fix, "are good values for")
		if m[1] != fits && !named {
			t.Errorf("%s: %s %q, and %s fits", path, f.Rule, f.Fix, fits)
		}
	}
	return tried
}

// TestRemedyIsTheExpectedValue: a variable that is missing gets the value that a measurement
// decided, by the limit if that gives the same.
func TestRemedyIsTheExpectedValue(t *testing.T) {
	file := filepath.ToSlash(filepath.Join(t.TempDir(), "pod.yaml"))
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: api}\nspec:\n  containers:\n  - name: api\n    image: api\n    resources: {limits: {cpu: 2}}\n"
	must.OK(t, os.WriteFile(file, []byte(pod), 0o644))
	for _, tc := range []struct {
		version string
		procs   int
		want    string
	}{
		{"go1.24", 1, `value: "1"`},
		{"go1.24", 2, "resource: limits.cpu"},
		{"go1.26", 1, `value: "1"`},
	} {
		e := decided(tc.procs)
		e.Program = "api"
		run := func(ctx context.Context, overlay map[string][]byte) (*check.Report, error) {
			programs := &check.Programs{Default: check.Program{GoVersion: tc.version, From: "--go"}}
			programs.Expect("", &e)
			c := New(Options{Changes: true, Programs: programs})
			return check.Run(ctx, check.Options{Paths: []string{file}, Checkers: []check.Checker{c}, Overlay: overlay})
		}
		r := must.Get(check.Fixer{Check: run, Least: rule.Info}.Run(t.Context()))(t)
		if len(r.Fixed) != 1 || !strings.Contains(string(r.Fixed[0].After), tc.want) || len(r.Findings)+len(r.Notes) > 0 {
			t.Errorf("%s, expected %d: %+v", tc.version, tc.procs, r)
		}
	}
}
