package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/must"
)

// codesOf are the constants of a type in a file.
func codesOf(t *testing.T, file, of string) (list []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	must.OK(t, err)
	ast.Inspect(parsed, func(n ast.Node) bool {
		value, ok := n.(*ast.ValueSpec)
		if !ok || len(value.Values) != 1 {
			return true
		}
		if id, ok := value.Type.(*ast.Ident); ok && id.Name == of {
			text, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
			must.OK(t, err)
			list = append(list, text)
		}
		return true
	})
	if len(list) < 20 {
		t.Fatalf("%s: %d constants of %s", file, len(list), of)
	}
	return list
}

// advised is a run with what it was asked for, and what it must not be told to do again.
type advised struct{ spec.Spec }

// advisedRuns are runs without flags, and with those that an advice names.
func advisedRuns() []advised {
	var asked []spec.Change
	for _, pair := range []string{
		"procs=auto", "cpus=target=0,load=1", "trial-time=10s,warmup=1s", "rate=100", "until=trials=50", "for=10m",
		"connections=8", "limit=2", "margin=0.05",
	} {
		name, value, _ := strings.Cut(pair, "=")
		asked = append(asked, spec.Set(name, value))
	}
	asked = append(asked, spec.Alone("any-program", "true"))
	server := spec.Spec{Command: "sweep", Program: []string{"./server"}}
	compare := server
	compare.Command, compare.Operands = "compare", []string{"./old"}
	return []advised{
		{server},
		{server.With(asked...).With(spec.Set("max-memory", "1GiB"), spec.Set("vary", "GOGC=25,50,100"), spec.Set("profile", "http://127.0.0.1:6060/debug/pprof/"))},
		{server.With(spec.Set("slo", "p99=20ms")).With(asked...)},
		{compare.With(asked...).With(spec.Unset("procs"))},
		{server.With(spec.Set("repeats", "6"), spec.Set("trial-time", "1s"))},
	}
}

// comparing are words before a flag with which it can be given again, with another value.
var comparing = []string{"longer", "higher", "lower", "more", "smaller", "another"}

var namedFlag = regexp.MustCompile(`(?:(\S+) )?--([a-z][a-z0-9-]*)(?:[ =]([^\s;,:)]+))?`)

// textHelps: a flag that a text names is one of the command's, and the run did not have it already.
func (a advised) textHelps(t *testing.T, code, text string) {
	t.Helper()
	if !strings.Contains(text, "--") {
		return
	}
	cmd, _, err := newRoot(quiet()).Find(strings.Fields(a.Command))
	must.OK(t, err)
	if at := strings.Index(text, "procfit "+a.Command+" "); at >= 0 {
		a.commandHelps(t, code, text[at:], code == string(verdict.Incomplete{}.Code())) // which is resumed
		text = text[:at]
	}
	for _, m := range namedFlag.FindAllStringSubmatch(text, -1) {
		before, name, value := m[1], m[2], m[3]
		f := cmd.Flags().Lookup(name)
		if f == nil {
			if sweep, _, _ := newRoot(quiet()).Find([]string{"sweep"}); sweep.Flags().Lookup(name) == nil && !strings.Contains("query slice", name) {
				t.Errorf("%s, %s: no command has --%s: %s", a.Command, code, name, text)
			}
			continue
		}
		if !a.Has(name) || slices.Contains(comparing, before) {
			continue
		}
		had := a.Text(name)
		if isValue := f.Value.Set(value) == nil && value != ""; !isValue || value == had {
			t.Errorf("%s had --%s %s, and %s proposes: %s", a.Command, name, had, code, text)
		}
	}
}

// commandHelps: it can be typed, and it is not the one that was run, unless what helps is not in it.
func (a advised) commandHelps(t *testing.T, code, command string, same bool) {
	t.Helper()
	words := strings.Fields(strings.ReplaceAll(command, "'", ""))
	if len(words) == 0 || words[0] != "procfit" {
		return
	}
	cmd, flags, err := newRoot(quiet()).Find(words[1:])
	if err == nil {
		err = cmd.ParseFlags(flags)
	}
	if err != nil {
		t.Errorf("%s, %s: %s: %v", a.Command, code, command, err)
	}
	if slices.Equal(words[1:], a.Args()) && !same {
		t.Errorf("%s proposes what was run: %s", code, command)
	}
}

// result is what such a run came to; the fields that an advice reads are set.
func (a advised) result(racing bool) *verdict.Result {
	r := pagetest.Typical()
	r.Spec, r.Load.DurationSeconds, r.Folder = a.Spec, 10, "results/x"
	r.Plan.Strategy, r.Plan.MaxTrials, r.Plan.Blocks = "", 0, 6
	if racing {
		r.Plan.Strategy, r.Plan.MaxTrials = journal.StrategyRace, 50
	}
	return r
}

// warnings walks through the fixes of every warning, and returns how many there are.
func (a advised) warnings(t *testing.T, racing bool) (seen int) {
	for _, kind := range page.Remarks() {
		x := pagetest.Example(kind, "2", true).Interface().(verdict.Remark)
		for _, others := range []bool{false, true} {
			r := a.result(racing)
			if r.Warnings = []verdict.Warning{{Group: new(0), Remark: x}}; others {
				r.Groups[0].Others = verdict.OtherPrograms{CPUs: new(1.0), Of: 2, Matter: true}
			}
			for _, w := range slices.Concat(documenttest.Find[document.Notes](page.Report(r).Blocks)...) {
				seen++
				a.textHelps(t, string(x.Code()), w.Fix)
			}
		}
	}
	return seen
}

// steps walks through every next step of a verdict.
func (a advised) steps(t *testing.T, racing, complete bool) (seen int) {
	unchanged := []verdict.StepCode{verdict.StepQuietMachine, verdict.StepSteady}
	r := a.result(racing)
	r.Complete = complete
	for _, code := range codesOf(t, "../verdict/remark.go", "StepCode") {
		r.Groups[0].Recommendation.Next = append(r.Groups[0].Recommendation.Next, verdict.Step{
			Code: verdict.StepCode(code), Metric: verdict.MetricThroughput, Blocks: 12, Have: 12, More: 9, TrialSeconds: 1,
		})
	}
	next := r.Groups[0].Recommendation.Next
	items := page.VerdictOf(r).Next
	for i, item := range items {
		seen++
		code := "next step " + strconv.Itoa(i)
		same := !complete
		if len(items) == len(next) { // else one is not of this command
			code, same = string(next[i].Code), same || slices.Contains(unchanged, next[i].Code)
		}
		a.textHelps(t, code, item.Text)
		a.commandHelps(t, code, item.Command, same || strings.Contains(item.Text, "machine"))
	}
	return seen
}

// failures walks through what to try after every invalid first trial.
func (a advised) failures(t *testing.T) (seen int) {
	for _, code := range codesOf(t, "../verdict/journal/code.go", "InvalidCode") {
		c := &journal.Contents{Header: journal.Header{Spec: a.Spec}}
		c.Header.Target.Command, c.Header.Load.ReadyTimeoutSeconds, c.Header.Load.TrialTimeoutSeconds = []string{"./server"}, 30, 60
		c.Header.Target.Beside = &journal.Beside{Command: []string{"./beside"}}
		c.Trials = []journal.Trial{{InvalidCode: journal.InvalidCode(code), InvalidReason: "it failed", NotStarted: true}}
		if f := page.NewFailure("results/x", c); f != nil {
			for _, item := range f.Try {
				seen++
				a.commandHelps(t, code, item.Command, item.Text == "after the fix, measure again")
			}
		}
	}
	return seen
}

// TestEveryAdviceHelps walks through the advices of every warning, every next step and every failure:
// a flag that one names exists and was not given already, and a command can be typed and differs from
// the one that was run. What a machine needs, or a program, is not in a command: that may be the same.
func TestEveryAdviceHelps(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, a := range advisedRuns() {
		for _, racing := range []bool{true, false} {
			seen += a.warnings(t, racing) + a.steps(t, racing, true) + a.steps(t, racing, false)
		}
		seen += a.failures(t)
	}
	if seen < 500 {
		t.Errorf("only %d advices", seen)
	}
}
