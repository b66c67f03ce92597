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

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	judge "github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/must"
)

// codesOf are the constants of a type in a file.
func codesOf(t *testing.T, file, of string) (list []string) {
	t.Helper()
	parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
	ast.Inspect(parsed, func(n ast.Node) bool {
		value, ok := n.(*ast.ValueSpec)
		if !ok || len(value.Values) != 1 {
			return true
		}
		if id, ok := value.Type.(*ast.Ident); ok && id.Name == of {
			text := must.Get(strconv.Unquote(value.Values[0].(*ast.BasicLit).Value))(t)
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
	earlier := compare
	earlier.Operands = []string{"results/main"}
	pods := spec.Spec{Operands: []string{"deployment/api"}}.With(spec.Set("image", "registry.example/procfit:v1"))
	kube, canaries := pods, pods
	kube.Command, canaries.Command = "kube sweep", "kube canary"
	return []advised{
		{earlier}, {kube}, {canaries},
		{spec.Spec{Command: "live", Operands: []string{":8080"}}.With(spec.Set("rate", "2000"))},
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

// needs are the flags without which no run comes to a remark, a step or a failure.
var needs = map[string]string{
	string(verdict.StepMoreMemory): "max-memory", string(verdict.StepProfile): "profile", "no_profile": "profile", "spans_nodes": "cpus target=0", "spans_kinds": "cpus target=0",
	string(verdict.StepOfferRate): "load", string(verdict.StepLessRate): "limit", string(verdict.StepObjective): "until likely", string(verdict.StepSee): "any-program",
	string(journal.InvalidNeverReady): "timeout ready=1s", string(journal.InvalidTimeout): "timeout run=1s",
}

func (a advised) command(t *testing.T) *cobra.Command {
	t.Helper()
	cmd, _, err := newRoot(quiet()).Find(strings.Fields(a.Command))
	must.OK(t, err)
	return cmd
}

// takes reports whether the command has a flag, and of its parts that of the text.
func takes(cmd *cobra.Command, name, text string) bool {
	f := cmd.Flags().Lookup(name)
	return f != nil && (text == "" || f.Value.(*asFlag).of.Takes(name, text))
}

func (a advised) meets(t *testing.T, code string) bool {
	t.Helper()
	name, text, _ := strings.Cut(needs[code], " ")
	return name == "" || takes(a.command(t), name, text)
}

// textHelps: a flag that a text names is one of the command's, and the run did not have it already.
func (a advised) textHelps(t *testing.T, code, text string) {
	t.Helper()
	if !strings.Contains(text, "--") {
		return
	}
	cmd := a.command(t)
	if at := strings.Index(text, "procfit "+a.Command+" "); at >= 0 {
		a.commandHelps(t, code, text[at:], code == string(verdict.Incomplete{}.Code())) // which is resumed
		text = text[:at]
	}
	for _, m := range namedFlag.FindAllStringSubmatch(text, -1) {
		before, name, value := m[1], m[2], m[3]
		if !takes(cmd, name, value) {
			t.Errorf("%s, %s: it has no such --%s: %s", a.Command, code, name, text)
			continue
		}
		if !a.Has(name) || slices.Contains(comparing, before) {
			continue
		}
		had := a.Text(name)
		if isValue := cmd.Flags().Lookup(name).Value.Set(value) == nil && value != ""; !isValue || value == had {
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
	r.Load.Arrangement = new(journal.ArrangementShared)
	switch {
	case strings.HasPrefix(a.Command, "kube "):
		r.Target.Object = a.Operands[0]
	case a.Command == "live":
		r.Target.Attached = new(journal.Process)
	case a.Command == "compare" && a.Operands[0] == "./old":
		r.Target.Against = a.Operands
	}
	return r
}

// warnings walks through the fixes of every warning, and returns how many there are.
func (a advised) warnings(t *testing.T, racing bool) (seen int) {
	r := a.result(racing)
	alone := r.Groups[0].Others
	for _, kind := range page.Remarks() {
		x := pagetest.Example(kind, "2", true).Interface().(verdict.Remark)
		if !a.meets(t, string(x.Code())) || strings.HasSuffix(kind.PkgPath(), "/canary") != (a.Command == "kube canary") {
			continue
		}
		r.Warnings = []verdict.Warning{{Group: new(0), Remark: x}}
		for _, others := range []verdict.OtherPrograms{alone, {CPUs: new(1.0), Of: 2, Matter: true}} {
			r.Groups[0].Others = others
			for _, w := range slices.Concat(documenttest.Find[document.Notes](page.Report(r).Blocks)...) {
				seen++
				a.textHelps(t, string(x.Code()), w.Fix)
			}
		}
	}
	return seen
}

// reasons walks through the commands of every reason, and returns how many there are.
func (a advised) reasons(t *testing.T, racing bool) (seen int) {
	r := a.result(racing)
	for _, kind := range page.Remarks() {
		x := pagetest.Example(kind, "2", true).Interface().(verdict.Remark)
		r.Groups[0].Recommendation.Reasons = []verdict.Remark{x}
		for _, text := range page.VerdictOf(r).Reasons {
			if _, command, has := strings.Cut(text, "run: "); has {
				seen++
				a.commandHelps(t, string(x.Code()), command, false)
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
		if !a.meets(t, code) {
			continue
		}
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
		if !a.meets(t, code) {
			continue
		}
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
	seen, reasons := 0, 0
	for _, a := range advisedRuns() {
		for _, racing := range []bool{true, false} {
			if racing && a.Command == "live" { // which is no race
				continue
			}
			if seen += a.warnings(t, racing); a.Command != "kube canary" { // which has no steps
				reasons += a.reasons(t, racing)
				seen += a.steps(t, racing, true) + a.steps(t, racing, false)
			}
		}
		seen += a.failures(t)
	}
	if seen < 500 || reasons < 5 {
		t.Errorf("only %d advices, and %d commands in reasons", seen, reasons)
	}
}

// TestEveryExperimentsAdviceHelps: the same of what procfit live and procfit kube live come to.
func TestEveryExperimentsAdviceHelps(t *testing.T) {
	t.Parallel()
	pod := spec.Spec{Command: "kube live", Operands: []string{"deployment/api"}}.With(spec.Set("image", "registry.example/procfit:v1"))
	ends := map[string]func(*journal.Contents){
		"better": func(*journal.Contents) {},
		"likely": func(c *journal.Contents) {
			c.Header.Live.Metrics = &journal.Metrics{URL: "http://x/m", Histogram: "h", FailuresUnknown: true}
		},
		"latency unknown":  func(c *journal.Contents) { c.Header.Live.LatencyBy = judge.ByHandler },
		"nothing is known": func(c *journal.Contents) { c.Header.Live.LatencyBy, c.Header.Live.Uncounted = judge.ByNone, true },
		"too few":          func(c *journal.Contents) { c.Trials = c.Trials[:8] },
	}
	for _, asked := range []spec.Spec{{Command: "live", Operands: []string{":8080"}}, {Command: "live", Operands: []string{"4711"}}, pod} {
		a := advised{asked.With(spec.Set("procs", "1,4"))}
		for name, end := range ends {
			for _, procs := range []int{1, 4} { // below and above that at start
				c := pagetest.LiveContents()
				c.Header.Spec = a.Spec
				end(c)
				r := judge.Analyze(c)
				if r.Recommendation.Procs != nil {
					r.Recommendation.Procs = &procs
				}
				v := page.VerdictOf(r)
				a.textHelps(t, name, v.Answer.Plain)
				for _, item := range v.Next {
					a.textHelps(t, name, item.Text)
					a.commandHelps(t, name, item.Command, false)
					if words := strings.Fields(item.Command); len(words) > 0 && !strings.HasPrefix(item.Command, "procfit "+a.Command+" "+a.Operands[0]) {
						t.Errorf("%s, %s: %s", a.Command, name, item.Command)
					}
				}
			}
		}
	}
}
