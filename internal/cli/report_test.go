package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
	"github.com/procfit/procfit/test/must"
)

// BenchmarkReport reads, analyses and renders a journal of 64 settings and 20
// blocks, as procfit report does.
func BenchmarkReport(b *testing.B) {
	var settings []verdicttest.Truth
	for n := range 64 {
		settings = append(settings, verdicttest.Set(n+1, 1000*float64(min(n+1, 8)), 0.01))
	}
	h, trials := verdicttest.Generate(verdicttest.Config{Settings: settings, Blocks: 20})
	dir := b.TempDir()
	writeRun(b, dir, h, trials)
	for b.Loop() {
		printedBy(b, "report", dir)
	}
}

// writeRun writes a run that has ended.
func writeRun(t testing.TB, dir string, h journal.Header, trials []journal.Trial) {
	t.Helper()
	d := must.Get(folder.Make(dir))(t)
	defer d.Close()
	w := must.Get(journal.Create(d, h, quiet().secrets.In))(t)
	defer w.Close()
	for _, trial := range trials {
		must.OK(t, w.Append(trial))
	}
}

// A report of a run that was compared with an earlier one has that comparison, while it is
// measured and later, and is written with it or not at all.
func TestReportHasTheComparison(t *testing.T) {
	root := t.TempDir()
	write := func(name string, change func(*journal.Header)) string {
		h, trials := verdicttest.Generate(verdicttest.Config{Settings: []verdicttest.Truth{verdicttest.Unset(2, 500, 0.02), verdicttest.Set(1, 900, 0.02)}, Blocks: 8})
		h.Load.Arrangement = new(journal.ArrangementShared)
		change(&h)
		writeRun(t, filepath.Join(root, name), h, trials)
		return filepath.Join(root, name)
	}
	main := write("main", func(*journal.Header) {})
	compared := func(h *journal.Header) {
		h.Spec, h.Target.Directory = spec.Spec{Command: "compare", Operands: []string{"main"}}, root
	}
	branch := write("branch", compared)
	elsewhere := write("elsewhere", func(h *journal.Header) { compared(h); h.TargetHost.CPUs = 99 })
	report := func(dir string) (code int, out, errs, result string) {
		code, out, errs = callMain(t, "report", dir)
		return code, out, errs, must.Read(t, filepath.Join(dir, "result.json"))
	}
	code, out, errs, result := report(branch)
	if code != 0 || errs != "" || !strings.Contains(out, "New run ") || !strings.Contains(result, `"kind": "baseline"`) {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if code, out, errs, _ := report(elsewhere); code != exitFailure || out == "" || !strings.HasPrefix(errs, "procfit: this run cannot be compared with the baseline: it comes from another host") {
		t.Errorf("of another host: exit code %d: %s%s", code, out, errs)
	}

	s := session.New(plan.Default(), session.Options{Dir: branch, Host: journal.Host{CPUs: 2, EffectiveCPUs: 2}})
	live := must.Get(openLive(t.Context(), quiet(), s, ":0", main))(t)
	defer live.server.Close()
	if r := live.renew(); r == nil || r.Gate == nil {
		t.Errorf("while it is measured: %+v", r)
	}

	must.OK(t, os.Rename(main, main+".gone"))
	if code, out, errs, now := report(branch); code != exitFailure || out != "" || now != result || !strings.HasPrefix(errs, "procfit: the earlier run that "+branch+" is compared with cannot be read: "+main) {
		t.Errorf("the earlier run is gone: exit code %d: %s%s", code, out, errs)
	}
}

// A sweep that appends its last trial while its journal is reported has that trial in the reports.
func TestReportOfAJournalThatGrows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	h, trials := verdicttest.Generate(verdicttest.Config{Settings: []verdicttest.Truth{verdicttest.Unset(2, 500, 0.02), verdicttest.Set(1, 900, 0.02)}})
	writeRun(t, dir, h, trials)
	name := filepath.Join(dir, journal.Name)
	whole := must.Read(t, name)
	must.Write(t, name, whole[:len(whole)-len("}\n")])
	report := func(notes io.Writer) string {
		if code := Main(t.Context(), []string{"report", dir}, strings.NewReader(""), io.Discard, notes); code != 0 {
			t.Errorf("exit code %d", code)
		}
		return must.Read(t, filepath.Join(dir, "result.json"))
	}
	// The note about an incomplete last line comes before anything is written.
	if got, want := report(interrupting{func() { must.Write(t, name, whole) }}), report(io.Discard); got != want {
		t.Errorf("the reports lack the last trial:\n%s", got)
	}
}

// Two runs that have ended are compared with the exit codes of a gate, by either command.
func TestFoldersAreComparedAsByAGate(t *testing.T) {
	root := t.TempDir()
	write := func(name string, blocks int, rate float64, change func(*journal.Header)) string {
		h, trials := verdicttest.Generate(verdicttest.Config{Settings: []verdicttest.Truth{verdicttest.Unset(2, 500, 0.02), verdicttest.Set(1, rate, 0.02)}, Blocks: blocks})
		h.Load.Arrangement = new(journal.ArrangementShared)
		change(&h)
		dir := filepath.Join(root, name)
		writeRun(t, dir, h, trials)
		return dir
	}
	asIs := func(*journal.Header) {}
	main := write("main", 8, 900, asIs)
	for _, c := range []struct {
		branch string
		code   int
		want   string
		prints bool // the report; what cannot be compared is refused before
	}{
		{write("same", 8, 900, asIs), 0, "", true},
		{write("slower", 8, 500, asIs), 1, "procfit: new run gains less over the default: throughput −", true},
		{write("command", 8, 900, func(h *journal.Header) { h.Target.Command = []string{"./other"} }), 0, "procfit: " + main + " measured another command: [\"./server\" \"-addr\" \":{port}\"], now [\"./other\"]\n", true},
		{write("load", 8, 900, func(h *journal.Header) { h.Load.Connections = 1 }), 0, "procfit: " + main + " was measured under another load\n", true},
		{write("kind", 8, 900, func(h *journal.Header) { h.Target.Kind = journal.KindBatch }), 3, "procfit: this run cannot be compared with the baseline: it measured a server target, but this is a batch target", false},
		{write("few", 2, 900, asIs), 3, "procfit: the comparison cannot be judged: ", true},
		{write("elsewhere", 8, 900, func(h *journal.Header) { h.TargetHost.CPUs = 99 }), 3, "procfit: this run cannot be compared with the baseline: it comes from another host", false},
		{write("apart", 8, 900, func(h *journal.Header) { h.Load.Arrangement = new(journal.ArrangementElsewhere) }), 3, "procfit: in the earlier sweep the load ran on the target's CPUs, in this one it runs on another machine", false},
		{write("unknown", 8, 900, func(h *journal.Header) { h.Load.Arrangement = nil }), 3, "procfit: in the earlier sweep the load ran on the target's CPUs, in this one it runs where its journal does not say", false},
	} {
		code, out, errs := callMain(t, "compare", main, c.branch)
		if code != c.code || !strings.HasPrefix(errs, c.want) || c.want == "" && errs != "" || (out != "") != c.prints {
			t.Errorf("%s: exit code %d, want %d\n%s%s", filepath.Base(c.branch), code, c.code, errs, c.want)
		}
	}
	for want, args := range map[string][]string{
		"procfit: --procs has no effect: OLD and NEW are results directories":   {"compare", "--procs", "1", main, main},
		"procfit: -o yaml prints the settings of a measurement":                 {"compare", "-o", "yaml", main, main},
		"procfit: NEW \"" + root + "\": no journal.jsonl in it; give a command": {"compare", main, root},
	} {
		if code, _, errs := callMain(t, args...); code != exitUsage || !strings.HasPrefix(errs, want) {
			t.Errorf("exit code %d: %s, want %s", code, errs, want)
		}
	}
}
