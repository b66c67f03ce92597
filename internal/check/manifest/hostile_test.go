package manifest

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/test/must"
)

// laughs is the billion laughs: ten levels, each ten times the one below.
func laughs(use string) string {
	s := "a0: &a0 {name: x}\n"
	for i := 1; i < 10; i++ {
		s += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10), ","))
	}
	return "apiVersion: v1\nkind: Thing\n" + s + use
}

const good = `apiVersion: v1
kind: Pod
metadata: {name: good}
spec:
  containers:
    - {name: good, image: x, env: [{name: GOMAXPROCS, value: "1"}], resources: {limits: {cpu: 2}}}
`

// TestHostile: whatever stands in one file, there is a clear error or none, in little
// time, and the others are still checked.
func TestHostile(t *testing.T) {
	deep := strings.Repeat("{a: ", 5000) + "1" + strings.Repeat("}", 5000)
	many := make([]string, 0, 3000)
	for i := range 3000 {
		many = append(many, fmt.Sprintf("m%d: &m%d {<<: [%s], k%d: v}", i, i, strings.Repeat(fmt.Sprintf("*m%d,", max(0, i-1)), min(i, 3)), i))
	}
	for name, tc := range map[string]struct {
		text    string
		problem string // "" for none
	}{
		"billion laughs":                {laughs("b: *a9\n"), "expand endlessly"},
		"billion laughs as containers":  {laughs("spec: {containers: *a9}\n"), "expand endlessly"},
		"billion laughs as env":         {laughs("spec: {containers: [{name: x, image: y, env: *a9}]}\n"), "expand endlessly"},
		"billion laughs by merging":     {"apiVersion: v1\nkind: Pod\n" + strings.Join(many, "\n") + "\nspec: {<<: *m2999, containers: [{name: x, image: y}]}\n", "expand endlessly"},
		"an alias to what it is in":     {"apiVersion: v1\nkind: Pod\nspec: &s\n  containers: [{name: x, image: y, env: [*s]}]\n  again: *s\n", ""},
		"an alias to nothing":           {"apiVersion: v1\nkind: Pod\nspec: *nowhere\n", "unknown anchor"},
		"a mapping merged into itself":  {"apiVersion: v1\nkind: Pod\nspec: &s {<<: *s, containers: [{name: x, image: y}]}\n", ""},
		"deep":                          {"apiVersion: v1\nkind: Pod\nspec: " + deep, ""},
		"very deep":                     {strings.Repeat("[", 1_000_000), "invalid YAML"},
		"not UTF-8":                     {"kind: Pod\nname: \xff\xfe\n", "is not UTF-8"},
		"UTF-16":                        {"\xff\xfek\x00i\x00n\x00d\x00", "is not UTF-8"},
		"binary":                        {"\x00\x01\x02kind: Pod", "invalid YAML"},
		"a NUL in a string":             {"apiVersion: v1\nkind: \"P\\0od\"\nspec: {containers: [{name: \"a\\0\", image: x}]}\n", ""},
		"scalars where lists should be": {"apiVersion: v1\nkind: Pod\nspec: {containers: [{name: x, image: 3, env: 4, envFrom: [5, {configMapRef: 6}], resources: [7]}], initContainers: 8}\n", ""},
		"keys that are no scalars":      {"apiVersion: v1\nkind: Pod\n? [a, b]\n: {c: d}\nspec: {? {x: y} : z, containers: [{name: x, image: y}]}\n", ""},
		"nulls":                         {"apiVersion: v1\nkind: Pod\nmetadata:\nspec:\n  containers:\n  - name: x\n    image:\n    env:\n    resources:\n", ""},
		"an odd tag":                    {"apiVersion: v1\nkind: !!int Pod\nspec: !x {containers: [{name: x, image: y}]}\n", ""},
		"a large amount":                {"apiVersion: v1\nkind: Pod\nspec: {containers: [{name: x, image: y, env: [{name: GOMAXPROCS, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1m}}}], resources: {limits: {cpu: 1e99}}}]}\n", ""},
		"an endless amount":             {"apiVersion: v1\nkind: Pod\nspec: {containers: [{name: x, image: y, resources: {limits: {cpu: " + strings.Repeat("9", 100_000) + "}}}]}\n", ""},
		"a long value":                  {"apiVersion: v1\nkind: Pod\nspec: {containers: [{name: x, image: y, env: [{name: GOMAXPROCS, value: \"" + strings.Repeat("$(A)", 1_000_000) + "\"}]}]}\n", ""},
		"a large document":              {"apiVersion: v1\nkind: ConfigMap\ndata: {x: \"" + strings.Repeat("y", 10<<20) + "\"}\n", ""},
		"a larger document":             {"x: \"" + strings.Repeat("y", 17<<20) + "\"\n", "at most 16777216 are read"},
		"many nodes":                    {"apiVersion: v1\nkind: Thing\n---\nx: [" + strings.Repeat("a,", mostParts) + "a]\n", "more than 4000000 keys and values"},
		"empty":                         {"", ""},
		"a byte order mark alone":       {"\ufeff", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := written(t, map[string]string{"a.yaml": tc.text, "b.yaml": good})
			begun := time.Now()
			r := expectation{options: Options{Changes: true, Programs: &check.Programs{Default: check.Program{GoVersion: "go1.24"}}}}.run(t, dir, nil)
			if took := time.Since(begun); took > 4*time.Minute {
				t.Errorf("took %s", took)
			}
			text := ""
			for _, p := range r.Problems {
				text += p.Message + "\n"
			}
			if (tc.problem == "") != (text == "") || !strings.Contains(text, tc.problem) || strings.Contains(text, "procfit fails") {
				t.Errorf("problems %.2000q, want %q", text, tc.problem)
			}
			if !strings.Contains(fmt.Sprint(found(r)), "PF002@good") {
				t.Errorf("the other file was not checked: %v", found(r))
			}
		})
	}
}

// TestLongMerge: a list of mappings that << names is walked through no further than each item costs.
// Many keys of few bytes may ask for it.
func TestLongMerge(t *testing.T) {
	const items, times = 100_000, 1000
	list := "[*a" + strings.Repeat(",*a", items-1) + "]"
	root, fault := decode([]byte("a: &a {name: x}\nown: {name: x, <<: " + list + "}\nfirst: {<<: " + list + "}\n"))
	if fault != nil {
		t.Fatal(fault.Message)
	}
	for _, key := range []string{"own", "first"} {
		r := &reader{left: mostNodes}
		n := r.get(root, key)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range times {
			if r.str(n, "name") != "x" {
				t.Fatalf("%s: the name is not found, with %d left", key, r.left)
			}
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > items*8*10 {
			t.Errorf("%s: %d bytes are allocated to find a name %d times, for %d nodes", key, took, times, mostNodes-r.left)
		}
	}
}

// TestLargeOnes: large files are taken apart one at a time, since each may take gigabytes.
func TestLargeOnes(t *testing.T) {
	c := New(Options{})
	done := make(chan error, 2)
	read := func(comment int) {
		done <- c.File(t.Context(), check.NewFile(fmt.Sprint(comment, ".yaml"), []byte(good+"# "+strings.Repeat("x", comment))), nowhere{})
	}
	c.large.Lock()
	go read(largeFile)
	read(1)
	must.OK(t, <-done)
	select {
	case <-done:
		t.Error("a large file is read next to another one")
	case <-time.After(20 * time.Millisecond):
	}
	c.large.Unlock()
	must.OK(t, <-done)
}

// TestManyDocuments: one that is broken costs only itself.
func TestManyDocuments(t *testing.T) {
	r := expectation{}.run(t, written(t, map[string]string{"all.yaml": strings.Repeat(good+"---\n{broken\n---\n", 300)}), nil)
	if len(r.Problems) != 300 || len(r.Findings) < 300 {
		t.Errorf("%d problems, %d findings", len(r.Problems), len(r.Findings))
	}
	if p := r.Problems[1]; p.Line < 16 || p.Line > 17 {
		t.Errorf("the second broken document is said to be in line %d, and is in 17", p.Line)
	}
}

// TestHostileLines bounds the time for a setting of very many lines, and the size of files whose
// lines continue.
func TestHostileLines(t *testing.T) {
	begun := time.Now()
	all := settings("a.service", "[Service]\nEnvironment=GOMAXPROCS=2 \\\n"+strings.Repeat("\\\n", mostLines/2))
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("took %s", took)
	}
	if len(all) != 1 || strings.TrimSpace(all[0].value) != "GOMAXPROCS=2" || all[0].last != mostLines/2+2 {
		t.Errorf("%d settings", len(all))
	}
	for _, name := range []string{"Dockerfile", "api.service"} {
		r := expectation{}.run(t, written(t, map[string]string{name: strings.Repeat("#\n", mostLines)}), nil)
		if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Message, "procfit reads at most 1048576") {
			t.Errorf("%s: %v", name, r.Problems)
		}
	}
}

// TestHostileUnits bounds the time for names of slices, and for files that are part of many units.
func TestHostileUnits(t *testing.T) {
	many := map[string]string{}
	for i := range 20 {
		many[fmt.Sprintf("service.d/%d.conf", i)] = strings.Repeat("#\n", mostLines/2)
	}
	for i := range 1000 {
		many[fmt.Sprintf("%d.service", i)] = "[Service]\nExecStart=/app\n"
	}
	extending := "services:\n"
	for i := range 2000 {
		extending += fmt.Sprintf("  s%d: {image: x, extends: {file: broken.yml, service: a}, environment: {GOGC: \"50\"}}\n", i)
	}
	for _, tc := range []struct {
		name  string
		files map[string]string
		says  string
	}{
		{"services of one broken file", map[string]string{"a.yaml": extending, "broken.yml": strings.Repeat("# a comment\n", 1<<20) + "\n{"}, "which it extends, sets GOMAXPROCS"},
		{"services of large files", map[string]string{
			"compose.yaml": "include: [x.yml]\nservices:\n  c: {image: x, extends: {file: y.yml, service: a}, environment: {GOGC: \"50\"}}\n",
			"x.yml":        "services: {a: {image: x}}\nx-long: " + strings.Repeat("x", mostNamed/2),
			"y.yml":        "services: {a: {image: x}}\nx-long: " + strings.Repeat("y", mostNamed/2),
		}, "which it extends, sets GOMAXPROCS"},
		{"patches of a large file", map[string]string{
			"kustomization.yaml": "resources: [pod.yaml]\npatches: [{path: x.yaml}, {path: x.yaml}, {path: x.yaml}]\n",
			"pod.yaml":           good, "x.yaml": strings.Repeat("x", mostNamed/2),
		}, "patches it"},
		{"a long slice", map[string]string{"a.service": "[Service]\nExecStart=/app\nEnvironment=GOGC=50\nSlice=" + strings.Repeat("a-", 100_000) + "a.slice\n"}, "is not the name of a slice"},
		{"a slice elsewhere", map[string]string{"a.service": "[Service]\nExecStart=/app\nEnvironment=GOGC=50\nSlice=../../a.slice\n"}, "is not the name of a slice"},
		{"drop-ins of all services", many, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			begun := time.Now()
			r := expectation{}.run(t, written(t, tc.files), nil)
			if took := time.Since(begun); took > 4*time.Minute {
				t.Errorf("took %s", took)
			}
			if len(r.Values) == 0 || !strings.Contains(r.Values[0].Open, tc.says) {
				t.Errorf("%.300v", r.Values)
			}
		})
	}
}

// written is a folder of files by their names.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		must.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	return dir
}
