package page_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

func TestAgainFixesTheSeedAndForgetsTheDirectory(t *testing.T) {
	for _, c := range [][2]string{
		{"sweep", "sweep --seed 42"},
		{"sweep --out a -- ./x --out b", "sweep --seed 42 -- ./x --out b"},
		{"sweep --out=a --seed=7 -- ./x", "sweep --seed 7 -- ./x"},
	} {
		r := &verdict.Result{Spec: specOf(strings.Fields(c[0])...), Plan: journal.Plan{Seed: 42}}
		if got := strings.Join(page.Again(r).Args(), " "); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}

// The script is run by a real shell, with a procfit that prints what it was given.
func TestReproduceRunsTheSameArguments(t *testing.T) {
	need.Command(t, "bash")
	for name, r := range map[string]*verdict.Result{"typical": pagetest.Typical(), "hostile": pagetest.Hostile()} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			r.Target.Directory = filepath.Join(dir, "it's here")
			must.OK(t, os.Mkdir(r.Target.Directory, 0o755))
			script, fake := filepath.Join(dir, "reproduce.sh"), filepath.Join(dir, "fake")
			write(t, script, reproduced(t, r))
			write(t, fake, "#!/bin/sh\nprintf '%s\\0' \"$PWD\" \"$GOGC\" \"${GOMEMLIMIT-unset}\" \"$@\"\n")
			c := exec.Command(script)
			c.Env = append(os.Environ(), "PROCFIT="+fake, "GOMEMLIMIT=1GiB")
			out := must.Output(t, c)
			_, gogc, _ := strings.Cut(r.Target.Environment[0], "=")
			want := append([]string{r.Target.Directory, gogc, "unset"}, page.Again(r).Args()...)
			got := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// The command that separates load and target names CPUs that procfit may use. Where no flag separates
// them, none is named.
func TestApart(t *testing.T) {
	nodes := &journal.Topology{Nodes: []journal.Node{{CPUs: cpuset.Set{6, 9}}, {ID: 1, CPUs: cpuset.Set{4, 8}}}}
	sweep := specOf("sweep", "--out", "a", "--", "./x")
	for want, r := range map[string]*verdict.Result{
		". To separate them, run: procfit sweep --cpus target=4,6,load=8-9 -- ./x":             {Spec: sweep, Host: journal.Host{Topology: nodes}},
		". To separate them, run: procfit sweep --cpus target=0-1,load=2-3 -- ./x":             {Spec: sweep},
		". To separate them, run: procfit compare ./old --cpus target=0-1,load=2-3 -- ./x":     {Spec: specOf("compare", "./old", "--", "./x"), Target: journal.Target{Against: []string{"./old"}}},
		"; to separate them, use a cluster with a second node, from which the load then comes": {Spec: specOf("kube", "sweep", "deployment/api"), Target: journal.Target{Object: "deployment/api"}},
		"; to separate them, measure both runs with the load generator on another machine":     {Spec: specOf("compare", "results/main", "--", "./x")},
	} {
		r.Host.AffinityCPUs = 4
		r.Groups = []verdict.Group{{Recommendation: verdict.Recommendation{Reasons: []verdict.Remark{verdict.ReasonShared{}}}}}
		if got := page.VerdictOf(r).Reasons[0]; !strings.HasSuffix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// What the journal does not hold is asked for by name, before anything runs.
func TestReproduceAsksForWhatWasLeftOut(t *testing.T) {
	need.Command(t, "bash")
	r := pagetest.Typical()
	r.Spec = specOf("sweep", "--header", "Authorization: {env:PAGE_TEST_KEY}", "--", "./server", "--token={env:PAGE_TEST_TOKEN}")
	r.Target.Directory = ""
	script := filepath.Join(t.TempDir(), "reproduce.sh")
	write(t, script, reproduced(t, r))
	c := exec.Command(script)
	c.Env = append(os.Environ(), "PROCFIT=/bin/false")
	out, err := c.CombinedOutput()
	if err == nil || c.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "credentials are not recorded: export PAGE_TEST_KEY") {
		t.Errorf("%v: %s", err, out)
	}
}

// What came on standard input is in no journal: the script says so where nothing comes there.
func TestReproduceAsksForStandardInput(t *testing.T) {
	r := pagetest.Typical()
	for args, want := range map[string]string{"--body @-": "--body @-", "--requests=-": "--requests -", "--body @file": "", "-- ./x --body @-": ""} {
		r.Spec = specOf(append([]string{"sweep"}, strings.Fields(args)...)...)
		script := reproduced(t, r)
		asks := strings.Contains(script, "[ ! -t 0 ] || { echo 'the journal does not contain what "+want+" read: ")
		if asks != (want != "") || !asks && strings.Contains(script, "-t 0") {
			t.Errorf("%s: %s", args, script)
		}
	}
}

// reproduced is the script of a Result.
func reproduced(t *testing.T, r *verdict.Result) string {
	t.Helper()
	dir := t.TempDir()
	must.Get(page.Write(dir, r))(t)
	return must.Read(t, filepath.Join(dir, "reproduce.sh"))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(path, []byte(text), 0o755))
}

// A script next to a procfit.yaml reads it, wherever the two are, and asks for the variables
// that it names.
func TestReproduceReadsTheFile(t *testing.T) {
	need.Command(t, "bash")
	r := pagetest.Typical()
	dir := t.TempDir()
	r.Target.Directory = dir
	r.Settings = &verdict.Settings{Name: "procfit.yaml", Text: []byte("load: {}\n"), Rest: specOf("compare", "./old -x", "--title", "it's")}
	r.Spec = r.Settings.Rest.With(spec.Set("header", "X: {env:PAGE_TEST_TOKEN}"))
	moved := filepath.Join(dir, "moved it's")
	must.OK(t, os.Mkdir(moved, 0o755))
	must.Get(page.Write(moved, r))(t)
	fake := filepath.Join(dir, "fake")
	write(t, fake, "#!/bin/sh\nprintf '%s\\0' \"$@\"\n")
	run := func(more ...string) (string, error) {
		c := exec.Command(filepath.Join(moved, "reproduce.sh"))
		c.Env = append(os.Environ(), append(more, "PROCFIT="+fake)...)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := run(); err == nil || !strings.Contains(out, "export PAGE_TEST_TOKEN, which this run needs") {
		t.Errorf("%v: %s", err, out)
	}
	out, err := run("PAGE_TEST_TOKEN=")
	want := []string{"compare", "./old -x", "--title", "it's", "--file", filepath.Join(moved, "procfit.yaml")}
	if got := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\ngot  %q\nwant %q", err, got, want)
	}
}

// specOf is the Spec of a command line as procfit writes one: the command and its words, then
// flags, and after -- the program. A flag without a value is a switch.
func specOf(words ...string) (s spec.Spec) {
	if i := slices.Index(words, "--"); i >= 0 {
		words, s.Program = words[:i], words[i+1:]
	}
	for len(words) > 0 {
		name, isFlag := strings.CutPrefix(words[0], "--")
		name, text, joined := strings.Cut(name, "=")
		switch words = words[1:]; {
		case !isFlag && (s.Command == "" || s.Command == "kube" || s.Command == "lab"):
			s.Command = strings.TrimPrefix(s.Command+" "+name, " ")
		case !isFlag:
			s.Operands = append(s.Operands, name)
		case joined:
			s.Set = append(s.Set, spec.Value{Name: name, Texts: []string{text}})
		case len(words) > 0 && !strings.HasPrefix(words[0], "--"):
			s.Set, words = append(s.Set, spec.Value{Name: name, Texts: words[:1]}), words[1:]
		default:
			s.Set = append(s.Set, spec.Value{Name: name, Texts: []string{"true"}, Bare: "true"})
		}
	}
	return s
}
