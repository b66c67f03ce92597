package page

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/live"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/must"
)

// remarksIn are the types with a Code that the packages of a verdict declare, by package and name,
// and how often each is made.
func remarksIn(t *testing.T, folders ...string) map[string]int {
	t.Helper()
	made := map[string]int{}
	var files []*ast.File
	for _, folder := range folders {
		names := must.Get(filepath.Glob(filepath.Join(folder, "*.go")))(t)
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, 0))(t)
			files = append(files, file)
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Code" {
					made[file.Name.Name+"."+f.Recv.List[0].Type.(*ast.Ident).Name] = 0
				}
			}
		}
	}
	for _, file := range files {
		count := func(e ast.Expr) {
			if id, ok := e.(*ast.Ident); ok {
				if n, is := made[file.Name.Name+"."+id.Name]; is {
					made[file.Name.Name+"."+id.Name] = n + 1
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				count(n.Type)
			case *ast.ValueSpec: // a variable that is filled in
				count(n.Type)
			}
			return true
		})
	}
	return made
}

// Each remark that is made has a row, and each row is of one.
func TestEveryRemarkHasWords(t *testing.T) {
	made := remarksIn(t, "..", "../canary")
	if len(made) < 40 {
		t.Fatalf("only %d remarks", len(made))
	}
	for kind, times := range made {
		if times == 0 {
			t.Errorf("%s is never made", kind)
		}
	}
	for of := range catalogue {
		if _, is := made[of.String()]; !is {
			t.Errorf("%s has a row, and is no remark", of)
		}
		delete(made, of.String())
	}
	for kind := range made {
		t.Errorf("%s has no row", kind)
	}
}

// unshown are the numbers of remarks that are not in their words, and why.
var unshown = map[string]string{
	"ReasonSlower.Than": leader, "ReasonAsFast.Than": leader, "ReasonSpeedOpen.Than": leader, "ReasonSetAside.Than": leader,
	"ReasonLater.Than": leader, "ReasonAsPrompt.Than": leader, "ReasonP99Open.Than": leader,
	"ReasonUnsetDiffers.Than":   "it has the number that Of resolves to",
	"MetricsWorse.Losses[0].Of": "it is the setting that the sentence names", "MetricsWorse.Losses[0].Bound": "the reason has it",
	"ReasonCarrierP99.Of": "it is what the sentence above names",
	"ClaimSet.Of":         "the comparison with the default has it",
	"ClaimAsGood.Than":    "the reasons name it",
}

const leader = "the first reason names it"

// numbers are the numbers in a remark, with names as in Settings[0].Value and a way to set them.
// What a journal holds has words of its own, and a value is its name and its levels.
func numbers(v reflect.Value, name string, visit func(name string, set func(float64))) {
	if v.CanInterface() && strings.HasSuffix(v.Type().PkgPath(), "verdict/journal") {
		return
	}
	switch v.Kind() {
	case reflect.Int, reflect.Int64, reflect.Float64:
		visit(name, func(x float64) { v.Set(reflect.ValueOf(x).Convert(v.Type())) })
	case reflect.Pointer:
		if !v.IsNil() {
			numbers(v.Elem(), name, visit)
		}
	case reflect.Slice:
		numbers(v.Index(0), name+"[0]", visit)
	case reflect.Struct:
		if value, is := v.Addr().Interface().(*contest.Value); is {
			visit(name, func(x float64) {
				value.Setting, value.Procs, value.Throughput.Median, value.P99.Median = fmt.Sprint(x), int(x), &x, &x
			})
			return
		}
		for i := range v.NumField() {
			of := name
			if f := v.Type().Field(i); !f.Anonymous {
				of = strings.TrimPrefix(name+"."+f.Name, ".")
			}
			numbers(v.Field(i), of, visit)
		}
	}
}

// examples are remarks of a kind: with all flags and without.
func examples(of reflect.Type) []func() reflect.Value {
	return []func() reflect.Value{
		func() reflect.Value { return pagetest.Example(of, "2", true) },
		func() reflect.Value { return pagetest.Example(of, verdict.MetricThroughput, false) },
	}
}

// shownIn are the numbers of an example, by whether one changes its words.
func shownIn(t *testing.T, of reflect.Type, example func() reflect.Value) map[string]bool {
	r := pagetest.Typical()
	w := words{&r.Groups[0], r}
	shown := map[string]bool{}
	numbers(example(), "", func(name string, _ func(float64)) { shown[name] = false })
	for name := range shown {
		v := example()
		say := func() wording { return w.say(v.Interface().(verdict.Remark)) }
		first := say()
		if text := first.lead + first.text + first.fix; len(text) < 10 || !strings.Contains(text, " ") || strings.Contains(text, "%!") {
			t.Errorf("%s: %q", of, text)
		}
		numbers(v, "", func(at string, set func(float64)) {
			for _, x := range []float64{0, 0.02, 0.3, 1, 2, 3, 5, 9, 700} {
				if at == name {
					set(x)
					shown[name] = shown[name] || say() != first
				}
			}
		})
	}
	return shown
}

// Each row makes a sentence of its remark, and every number of the remark changes it or is named
// above.
func TestEveryNumberIsShown(t *testing.T) {
	named := map[string]bool{}
	for of := range catalogue {
		shown := map[string]bool{}
		for _, example := range examples(of) {
			for name, is := range shownIn(t, of, example) {
				shown[name] = shown[name] || is
			}
		}
		for name, is := range shown {
			place := of.Name() + "." + name
			_, out := unshown[place]
			if is == out {
				t.Errorf("%s is shown: %v, and is named as not shown: %v", place, is, out)
			}
			named[place] = true
		}
	}
	for place := range unshown {
		if !named[place] {
			t.Errorf("%s is named as not shown, and there is none", place)
		}
	}
}

// kindOf is what a remark is: a warning, which has no prefix, or a reason, claim or cause.
func kindOf(of reflect.Type) string {
	for _, prefix := range []string{"Reason", "Cause", "Claim"} {
		if strings.HasPrefix(of.Name(), prefix) {
			return prefix
		}
	}
	return ""
}

// Each warning, each reason and each cause has a code of its own; a claim needs none. The schema of
// result.json has the codes of warnings, and those of causes and claims.
func TestCodes(t *testing.T) {
	codes := map[string][]string{}
	for of := range catalogue {
		kind, code := kindOf(of), string(reflect.Zero(of).Interface().(verdict.Remark).Code())
		if slices.Contains(codes[kind], code) || code == "" && kind != "Claim" {
			t.Errorf("%s: the code %q is taken, or is none", of, code)
		}
		if code != "" {
			codes[kind] = append(codes[kind], code)
		}
	}
	b := must.Get(os.ReadFile("../../../docs/reference/formats/result.schema.json"))(t)
	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct{ Enum []string }
		} `json:"$defs"`
	}
	must.OK(t, json.Unmarshal(b, &schema))
	for place, want := range map[[2]string][]string{{"page.warningJSON", "code"}: codes[""], {"page.recommendationJSON", "cause"}: append(codes["Cause"], codes["Claim"]...)} {
		got := schema.Defs[place[0]].Properties[place[1]].Enum
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s of the schema is %q, want %q", place, got, want)
		}
	}
}

// constantsOf are the constants of a type in a file.
func constantsOf(t *testing.T, file, of string) (list []string) {
	t.Helper()
	parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, 0))(t)
	ast.Inspect(parsed, func(n ast.Node) bool {
		if value, ok := n.(*ast.ValueSpec); ok && len(value.Values) == 1 {
			if id, ok := value.Type.(*ast.Ident); ok && id.Name == of {
				list = append(list, strings.Trim(value.Values[0].(*ast.BasicLit).Value, `"`))
			}
		}
		return true
	})
	return list
}

// Each verdict has a row, and each of its texts says something, whatever the verdict names.
func TestEveryVerdictHasWords(t *testing.T) {
	all := constantsOf(t, "../result.go", "Verdict")
	if len(all) < 7 || len(all) != len(verdicts) {
		t.Fatalf("%d verdicts, %d rows", len(all), len(verdicts))
	}
	for _, v := range all {
		row, known := verdicts[verdict.Verdict(v)]
		if !known {
			t.Errorf("%s has no row", v)
			continue
		}
		for _, rec := range []verdict.Recommendation{
			{Confidence: verdict.Proven}, {Confidence: verdict.Likely}, {Confidence: verdict.Proven, Procs: new(2)}, {Confidence: verdict.Likely, Procs: new(2)},
		} {
			rec.Verdict, rec.Setting, rec.BestThroughput, rec.BestP99 = verdict.Verdict(v), "2", "2", "1"
			r, running, alive := pagetest.Typical(), pagetest.Canary(), live.Analyze(pagetest.LiveContents())
			r.Groups[0].Recommendation, running.Recommendation, alive.Recommendation = rec, &rec, &rec
			g := &group{words: words{&r.Groups[0], r}, rows: rowsOf(&r.Groups[0])}
			canary := Verdict{Label: row.label}
			compared, live := canary, canary
			row.compared(g, &compared)
			row.experiment(experimentOf(running), &canary)
			row.experiment(experimentOf(alive), &live)
			for place, text := range map[string]string{
				"label": called(&rec).label, "answer": row.answer(g), "brief": g.brief(), "plain": g.plain(), "paste": row.paste(g).Lead,
				"compared": compared.Answer.Plain, "its label": compared.Label, "canary": canary.Answer.Plain, "live": live.Answer.Plain, "its answer": live.Answer.Text,
				"after": row.after(experimentOf(running)) + experimentOf(running).paste().Lead,
			} {
				if text == "" || strings.Contains(text, "%!") {
					t.Errorf("%s, %s: %q", v, place, text)
				}
			}
		}
	}
}
