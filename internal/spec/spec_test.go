package spec_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/secret"
	"github.com/procfit/procfit/internal/spec"
)

// sweep has a field of each kind: a text, texts, parts, a switch, one that may have no text,
// and texts that could be taken for flags.
func sweep() spec.Spec {
	return spec.Spec{
		Command: "kube sweep", Operands: []string{"deployment/api"},
		Set: []spec.Value{
			{Name: "procs", Texts: []string{"1,2"}}, {Name: "env", Texts: []string{"A=1", "B=2"}}, {Name: "timeout", Texts: []string{"ready=1m,stop=2s"}},
			{Name: "dry-run", Texts: []string{"true"}, Bare: "true"}, {Name: "yes", Texts: []string{"false"}, Bare: "true"},
			{Name: "profile", Texts: []string{"http://h/"}, Bare: "own"}, {Name: "title", Texts: []string{"-x"}}, {Name: "body", Texts: []string{""}},
		},
		Program: []string{"./x y", "--procs", "3"},
	}
}

func TestShell(t *testing.T) {
	const want = "procfit kube sweep deployment/api --procs 1,2 --env A=1 --env B=2 --timeout ready=1m,stop=2s --dry-run --yes=false --profile=http://h/ --title=-x --body= -- './x y' --procs 3"
	if got := sweep().Shell(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := (spec.Spec{Command: "sweep"}).Shell(); got != "procfit sweep" {
		t.Errorf("without fields: %s", got)
	}
}

func TestWith(t *testing.T) {
	for _, c := range []struct {
		change spec.Change
		want   string // of the fields
	}{
		{spec.Set("procs", "3"), "--procs 3 --env A=1 --env B=2 --timeout ready=1m,stop=2s"},
		{spec.Set("seed", "7"), "--procs 1,2 --env A=1 --env B=2 --timeout ready=1m,stop=2s --seed 7"},
		{spec.Unset("env"), "--procs 1,2 --timeout ready=1m,stop=2s"},
		{spec.Unset("seed"), "--procs 1,2 --env A=1 --env B=2 --timeout ready=1m,stop=2s"},
		{spec.Alone("profile", "own"), "--procs 1,2 --env A=1 --env B=2 --timeout ready=1m,stop=2s --profile"},
		{spec.Part("timeout", "ready", "2m"), "--procs 1,2 --env A=1 --env B=2 --timeout stop=2s,ready=2m"},
		{spec.Part("timeout", "run", "9s"), "--procs 1,2 --env A=1 --env B=2 --timeout ready=1m,stop=2s,run=9s"},
		{spec.Part("tls", "name", "h"), "--procs 1,2 --env A=1 --env B=2 --timeout ready=1m,stop=2s --tls name=h"},
	} {
		s := sweep()
		s.Set = s.Set[:3]
		before := s.Shell()
		if got := s.With(c.change).Shell(); got != "procfit kube sweep deployment/api "+c.want+" -- './x y' --procs 3" {
			t.Errorf("%+v: %s", c.change, got)
		}
		if s.Shell() != before {
			t.Errorf("%+v has changed the Spec itself: %s", c.change, s.Shell())
		}
	}
}

// A part without a name comes first, and a part whose value has commas is one part.
func TestParts(t *testing.T) {
	s := spec.Spec{Command: "sweep"}.With(spec.Set("trial-time", "5s,warmup=1s"), spec.Set("cpus", "target=0,2-3,load=4,5"), spec.Set("until", "trials=9"))
	for of, want := range map[[2]string]string{
		{"trial-time", ""}: "5s", {"trial-time", "warmup"}: "1s", {"cpus", "target"}: "0,2-3", {"cpus", "load"}: "4,5", {"cpus", ""}: "", {"until", ""}: "", {"seed", "x"}: "",
	} {
		if got := s.TextOf(of[0], of[1]); got != want {
			t.Errorf("%q of %s: %q", of[1], of[0], got)
		}
	}
	const cpus, rest = "--cpus target=0,2-3,load=4,5", " --until trials=9"
	for want, change := range map[string]spec.Change{
		"--trial-time 7s,warmup=1s " + cpus + rest:                       spec.Part("trial-time", "", "7s"),
		"--trial-time 5s,warmup=2s " + cpus + rest:                       spec.Part("trial-time", "warmup", "2s"),
		"--trial-time warmup=1s " + cpus + rest:                          spec.Part("trial-time", "", ""),
		"--trial-time 5s,warmup=1s --cpus target=0,2-3" + rest:           spec.Part("cpus", "load", ""),
		"--trial-time 5s,warmup=1s " + cpus + " --until likely,trials=9": spec.Part("until", "", "likely"),
		"--trial-time 5s,warmup=1s " + cpus:                              spec.Part("until", "trials", ""),
		"--trial-time 5s,warmup=1s " + cpus + rest + " --margin p99=30%": spec.Part("margin", "p99", "30%"),
	} {
		if got := s.With(change).Shell(); got != "procfit sweep "+want {
			t.Errorf("%+v:\n got %s\nwant procfit sweep %s", change, got, want)
		}
	}
}

// What differs makes the fields of one of those of the other.
func TestDiff(t *testing.T) {
	a := sweep()
	b := a.With(spec.Set("procs", "4"), spec.Unset("env"), spec.Alone("any-program", "true"))
	var names []string
	for _, c := range spec.Diff(a, b) {
		names = append(names, c.Name)
	}
	if want := []string{"env", "procs", "any-program"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	for _, pair := range [][2]spec.Spec{{a, b}, {b, a}, {a, {}}, {spec.Spec{}, a}} {
		if rest := spec.Diff(pair[0].With(spec.Diff(pair[0], pair[1])...), pair[1]); rest != nil {
			t.Errorf("the changes leave %+v", rest)
		}
	}
	if d := spec.Diff(a, a); d != nil {
		t.Errorf("of the same: %+v", d)
	}
}

func TestJSON(t *testing.T) {
	b, err := json.Marshal(sweep())
	var got spec.Spec
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	if err != nil || !reflect.DeepEqual(got, sweep()) {
		t.Errorf("%v: %s", err, b)
	}
}

// A credential is a variable by a name of its own, which no variable of the user has.
func TestDiscreet(t *testing.T) {
	s := spec.Spec{
		Command: "sweep", Operands: []string{"./old --pw S3"},
		Set: []spec.Value{
			{Name: "header", Texts: []string{"Authorization: Bearer S3", "Authorization: S3", "X: {env:COOKIE}", "Cookie: S3"}}, {Name: "body", Texts: []string{"S3"}},
			{Name: "env", Texts: []string{"HOME=S3", "DB=postgres://user:S3@db"}},
		},
		Program: []string{"./x", "--api-token", "S3", "${HOME}", "--dsn=S3@S3", "REDACTED", "S3"},
	}
	clear := s.Shell()
	got := s.Discreet(func(_ string, texts []string) (hidden []string) {
		for _, text := range texts {
			hidden = append(hidden, strings.ReplaceAll(text, "S3", secret.Redacted))
		}
		return hidden
	})
	want := spec.Spec{
		Command: "sweep", Operands: []string{"./old --pw {env:PW}"},
		Set: []spec.Value{
			{Name: "header", Texts: []string{"Authorization: Bearer {env:BEARER}", "Authorization: {env:AUTHORIZATION}", "X: {env:COOKIE}", "Cookie: {env:COOKIE_2}"}}, {Name: "body", Texts: []string{"{env:BODY}"}},
			{Name: "env", Texts: []string{"HOME={env:HOME_2}", "DB=postgres://user:{env:USER_2}@db"}},
		},
		Program: []string{"./x", "--api-token", "{env:API_TOKEN}", "${HOME}", "--dsn={env:DSN}@{env:DSN_2}", "{env:DSN_3}", "{env:SECRET}"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if s.Shell() != clear {
		t.Error("the Spec itself has changed")
	}
	if want := []string{"PW", "BEARER", "AUTHORIZATION", "COOKIE", "COOKIE_2", "BODY", "HOME_2", "USER_2", "API_TOKEN", "DSN", "DSN_2", "DSN_3", "SECRET"}; !slices.Equal(got.Variables(), want) {
		t.Errorf("variables %q", got.Variables())
	}
}
