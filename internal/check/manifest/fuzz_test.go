package manifest

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/test/must"
)

// FuzzFix: the fixer bears any text, is done at once, and changes the meaning of a
// document only in GOMAXPROCS and in the list that it stands in.
func FuzzFix(f *testing.F) {
	for _, path := range corpus(f) {
		b := must.Get(os.ReadFile(path))(f)
		if strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".json") {
			f.Add(string(b), strings.Contains(string(b), "go: 1.26"))
		}
	}
	dir := f.TempDir()
	file := filepath.ToSlash(filepath.Join(dir, "a.yaml"))
	must.OK(f, os.WriteFile(file, nil, 0o644))
	f.Fuzz(func(t *testing.T, text string, young bool) {
		e := expectation{options: Options{Changes: true, Programs: &check.Programs{Default: check.Program{GoVersion: "go1.24"}}}}
		if young {
			e.options.Programs.Default.GoVersion = "go1.26"
		}
		run := func(text string) *check.Report {
			return e.run(t, file, map[string][]byte{file: []byte(text)})
		}
		r := run(text)
		for _, p := range r.Problems {
			if strings.Contains(p.Message, "procfit fails") {
				t.Fatal(p.Message)
			}
		}
		for _, finding := range r.Findings {
			if finding.Change == nil {
				continue
			}
			after := must.Get(check.Apply([]byte(text), finding.Change.Splices))(t)
			if strip(t, text) != strip(t, string(after)) {
				t.Errorf("%s changes more than GOMAXPROCS:\n%s\n%s", finding.Rule, text, after)
			}
			for _, left := range run(string(after)).Findings {
				if left.Rule == finding.Rule && left.Place == finding.Place && left.Message == finding.Message && finding.Rule != "PF019" {
					t.Errorf("%s is still found:\n%s\n%s", finding.Rule, text, after)
				}
			}
		}
	})
}

// strip is what the documents mean but for variables named GOMAXPROCS, and lists of
// variables that are empty without.
func strip(t *testing.T, text string) string {
	var out strings.Builder
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var n yaml.Node
		if decoder.Decode(&n) != nil {
			return out.String()
		}
		write(&out, &n, 0)
	}
}

func write(out *strings.Builder, n *yaml.Node, depth int) {
	if depth > 100 || out.Len() > 1<<20 {
		return
	}
	if n.Kind == yaml.AliasNode {
		out.WriteString("*" + n.Value + " ")
		return
	}
	out.WriteString(n.ShortTag() + n.Anchor + n.Value + " ")
	for i := 0; i < len(n.Content); i++ {
		c := n.Content[i]
		if name, _ := child(c, "name"); name != nil && name.Value == "GOMAXPROCS" {
			continue
		}
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Value == "GOMAXPROCS" { // of compose
			i++
			continue
		}
		if strings.HasPrefix(c.Value, "GOMAXPROCS=") {
			continue
		}
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Value == "env" {
			var env strings.Builder
			write(&env, n.Content[i+1], depth+1)
			if i++; env.String() != "!!seq /" {
				out.WriteString("env " + env.String())
			}
			continue
		}
		write(out, c, depth+1)
	}
	out.WriteString("/")
}

func FuzzQuantity(f *testing.F) {
	for _, s := range []string{"500m", "1.5", "2e3", ".5", "1Ki", "0", "-1", "1e-99", "9999999999999999999E"} {
		f.Add(s)
	}
	one, _ := parseQuantity("1")
	milli, _ := parseQuantity("1m")
	f.Fuzz(func(t *testing.T, s string) {
		q, err := parseQuantity(s)
		if err != nil {
			return
		}
		n, m := q.ceil(one), q.ceil(milli)
		if q.positive() && (n < 1 || m < n) || !q.positive() && n > 0 {
			t.Errorf("%q is %d, and %d thousandths", s, n, m)
		}
	})
}

func TestQuantity(t *testing.T) {
	one, _ := parseQuantity("1")
	for text, want := range map[string]int64{"500m": 1, "1500m": 2, "1": 1, "2.0": 2, "2001m": 3, "1u": 1, "1e1": 10, "1k": 1000, "64Mi": 67108864, "0": 0, "2000m": 2, "0.0005": 1, "m": 0, "-1500m": -1, "1e15": 1e15, "9999999999999999999E": math.MaxInt64, "1e-12": 1, "1e99": math.MaxInt64} {
		q, err := parseQuantity(text)
		if err != nil || q.ceil(one) != want {
			t.Errorf("%s: %d, %v; want %d", text, q.ceil(one), err, want)
		}
	}
	for _, text := range []string{"", "two", "1 ", "1mm", "1e", "0x10", "1.2.3", "1e999999999", "1e-100", "Inf", "1_000"} {
		if _, err := parseQuantity(text); err == nil {
			t.Errorf("%q is taken for a quantity", text)
		}
	}
}

// FuzzLines: the readers of lines bear any text.
func FuzzLines(f *testing.F) {
	f.Add("[Service]\nEnvironment=\"A=b c\" D='e' \\\n F=\\x\nCPUQuota=50%\n")
	f.Add("FROM golang:1.24 AS a\nENV A=b C=\"d\"\nFROM a\nENV GOMAXPROCS=$X\n")
	f.Add("# escape=`\nFROM x\nENV `\n A=b\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		for _, s := range settings("a.service", text) {
			if s.line < 1 || s.last < s.line || s.last > lines {
				t.Errorf("%q stands in lines %d to %d of %d", s.key, s.line, s.last, lines)
			}
			words(s.value)
		}
		c := New(Options{})
		c.keep(c.dockerfile("Dockerfile", []byte(text), nowhere{}))
		for _, u := range c.systemd("x.service", []byte(text)) {
			if u.env.line > lines {
				t.Errorf("a variable in line %d of %d", u.env.line, lines)
			}
		}
	})
}
