package manifest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/test/must"
)

// TestFiles holds trees of files against what their archive says of them: in its
// comment, a line "want: PF017 warning base/api.yaml" for each finding, a line "says: words" for
// what values, findings and notes must say, and "open: 1" for how many values of Go programs are open.
func TestFiles(t *testing.T) {
	archives, err := filepath.Glob("testdata/trees/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a := must.Get(txtar.ParseFile(path))(t)
			files := map[string]string{}
			for _, f := range a.Files {
				files[f.Name] = string(f.Data)
			}
			t.Chdir(written(t, files))
			var want, got, says []string
			open := ""
			for line := range strings.Lines(string(a.Comment)) {
				if rest, ok := strings.CutPrefix(line, "want: "); ok {
					want = append(want, strings.TrimSpace(rest))
				} else if rest, ok := strings.CutPrefix(line, "says: "); ok {
					says = append(says, strings.TrimSpace(rest))
				} else if rest, ok := strings.CutPrefix(line, "open: "); ok {
					open = strings.TrimSpace(rest)
				}
			}
			r := expectation{}.run(t, ".", nil)
			if len(r.Problems) > 0 {
				t.Fatal(r.Problems)
			}
			var said strings.Builder
			opened := 0
			for _, v := range r.Values {
				if v.Go && v.Open != "" {
					opened++
				}
				said.WriteString(v.Path + ": " + v.Object + " " + v.Text + ": " + v.Source + "\n")
			}
			for _, n := range r.Notes {
				said.WriteString(n.Path + ": " + n.Message + "\n")
			}
			for _, f := range r.Findings {
				got = append(got, f.Rule+" "+string(f.Severity)+" "+f.Path)
				said.WriteString(f.Message + " → " + f.Fix + "\n")
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("found %q, want %q\n%s", got, want, &said)
			}
			if open != "" && fmt.Sprint(opened) != open {
				t.Errorf("%d values are open, want %s\n%s", opened, open, &said)
			}
			for _, words := range says {
				if !strings.Contains(said.String(), words) {
					t.Errorf("it does not say %q:\n%s", words, &said)
				}
			}
		})
	}
}

// TestServicesOfOthers: a list of services is that of a pipeline of GitLab, which is no manifest.
func TestServicesOfOthers(t *testing.T) {
	t.Chdir(written(t, map[string]string{
		".gitlab-ci.yml": "variables: {GOMAXPROCS: \"4\"}\nservices: [postgres:16]\ntest: {script: [go test]}\n", "compose.yaml": "services:\n", "stack.yml": "services: {}\n",
	}))
	if r := (expectation{}).run(t, ".", nil); !slices.Equal(r.Others, []string{".gitlab-ci.yml"}) || r.Files != 2 {
		t.Errorf("%d files are checked, and no manifests are %q", r.Files, r.Others)
	}
}

// TestSourceOverImage: what is not read may replace what the image sets.
func TestSourceOverImage(t *testing.T) {
	const pod = `{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, image: x/a, envFrom: [{%s: {name: api}}], resources: {limits: {cpu: 2}}}]}}`
	for from, want := range map[string]string{"secretRef": "ENV of a.tar, unless Secret api sets GOMAXPROCS", "none": "ENV of a.tar"} {
		t.Chdir(written(t, map[string]string{"pod.yaml": fmt.Sprintf(pod, from)}))
		e := expectation{options: Options{Programs: &check.Programs{Default: check.Program{GoVersion: "go1.26", GOMAXPROCS: "4", From: "a.tar"}}}}
		if r := e.run(t, ".", nil); len(r.Values) != 1 || r.Values[0].Source != want {
			t.Errorf("%s: %+v, want %q", from, r.Values, want)
		}
	}
}

// TestNamedAlone holds that a file which changes another one is checked with that, also if only the
// first is named, and that what is named together is checked once.
func TestNamedAlone(t *testing.T) {
	t.Chdir(written(t, map[string]string{
		"compose.yaml":                 "services:\n  api: {image: x, environment: {GOMAXPROCS: \"9\"}, cpus: 2}\n",
		"compose.override.yaml":        "services:\n  api: {environment: {GOMAXPROCS: \"5\"}}\n",
		"api.service":                  "[Service]\nExecStart=/app\nCPUQuota=200%\n",
		"api.service.d/a.conf":         "[Service]\nEnvironment=GOMAXPROCS=6\n",
		"web-a.service":                "[Service]\nExecStart=/web\nCPUQuota=200%\n",
		"web-.service.d/b.conf":        "[Service]\nEnvironment=GOMAXPROCS=7\n",
		"job@.service":                 "[Service]\nExecStart=/job\nCPUQuota=200%\n",
		"job@.service.d/c.conf":        "[Service]\nEnvironment=GOMAXPROCS=8\n",
		"broken/compose.yaml":          "services: {\n",
		"broken/compose.override.yaml": "services:\n  api: {environment: {GOMAXPROCS: \"5\"}}\n",
		"answered.service":             "[Service]\nExecStart=/app\n# procfit:ignore PF001 measured\nEnvironment=GOMAXPROCS=8\nCPUQuota=200%\n",
		"answered.service.d/d.conf":    "[Service]\nNice=5\n",
	}))
	if r := (expectation{}).run(t, "broken/compose.override.yaml", nil); len(r.Problems) != 1 || r.Problems[0].Path != "broken/compose.yaml" {
		t.Errorf("a main file that is not YAML: %+v", r)
	}
	for name, tc := range map[string]struct {
		paths []string
		want  string // the values
		finds string
	}{
		"an override":          {[]string{"compose.override.yaml"}, "service api 5", "PF001"},
		"with what it changes": {[]string{"compose.yaml", "compose.override.yaml"}, "service api 5", "PF001"},
		"a drop-in":            {[]string{"api.service.d/a.conf"}, "api.service 6", "PF001"},
		"its folder":           {[]string{"api.service.d"}, "api.service 6", "PF001"},
		"of several units":     {[]string{"web-.service.d/b.conf"}, "web-a.service 7", "PF001"},
		"of a template":        {[]string{"job@.service.d/c.conf"}, "job@.service 8", "PF001"},
		"an answered finding":  {[]string{"answered.service.d/d.conf"}, "answered.service 8", ""},
	} {
		r := must.Get(check.Run(context.Background(), check.Options{Paths: tc.paths, Checkers: []check.Checker{New(Options{})}}))(t)
		values := phrase.Each(r.Values, func(v check.Value) string { return v.Object + " " + v.Text })
		finds := phrase.Each(r.Findings, func(f check.Finding) string { return f.Rule })
		if strings.Join(values, ", ") != tc.want || strings.Join(finds, " ") != tc.finds || len(r.Problems) > 0 {
			t.Errorf("%s: %q, %q, %v, want %q, %q", name, values, finds, r.Problems, tc.want, tc.finds)
		}
	}
}

// TestUnjudgedIgnores: a comment is not called unused if its rule was not judged.
func TestUnjudgedIgnores(t *testing.T) {
	const text = `apiVersion: v1
kind: Pod
metadata: {name: api}
spec:
  containers:
  # procfit:ignore PF006,PF008 it only waits
  - {name: api, image: x, resources: {limits: {cpu: 2}}}
  # procfit:ignore PF003,PF006 it only waits
  - {name: worker, image: x, resources: {limits: {cpu: 2}}}
  # procfit:ignore PF001 it only waits
  - {name: ignored, image: x, env: [{name: GOMAXPROCS, value: 2000m}], resources: {limits: {cpu: 2}}}
  # procfit:ignore PF001 it only waits
  - {name: set, image: x, env: [{name: GOMAXPROCS, value: "2"}], resources: {limits: {cpu: 2}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: scaled}
spec: {template: {spec: {containers: [{name: scaled, image: x, resources: {requests: {cpu: 1}, limits: {cpu: 2}}}]}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: scaled}
spec:
  scaleTargetRef: {kind: Deployment, name: scaled}
  maxReplicas: 9
  # procfit:ignore PF042 it is reached
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: elsewhere}
spec:
  scaleTargetRef: {kind: Deployment, name: elsewhere}
  maxReplicas: 9
  # procfit:ignore PF042 what it scales is in another repository
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
`
	const dockerfile = "ARG GO_VERSION\n# procfit:ignore PF022 it runs without a limit\nFROM golang:${GO_VERSION}\nRUN go build -o /app .\n"
	for name, tc := range map[string]struct {
		version    string
		containers []string
		unused     string // "LINE:RULE" of each
	}{
		"all judged":        {"go1.26", nil, "10:PF001 12:PF001 26:PF042 2:PF022 6:PF006 6:PF008 8:PF003 8:PF006"},
		"another container": {"go1.26", []string{"api"}, "26:PF042 2:PF022 6:PF006 6:PF008"},
		"any version":       {"", nil, "12:PF001 26:PF042"},
		"an old version":    {"go1.24", nil, "10:PF001 12:PF001 26:PF042 6:PF008 8:PF003"},
	} {
		o := Options{Containers: tc.containers, Programs: &check.Programs{Default: check.Program{GoVersion: tc.version}}}
		var unused []string
		for _, f := range (expectation{options: o}).run(t, written(t, map[string]string{"a.yaml": text, "Dockerfile": dockerfile}), nil).Findings {
			if f.Rule == "PF041" {
				unused = append(unused, fmt.Sprint(f.Line, ":", f.Message[:len("PF000")]))
			}
		}
		slices.Sort(unused)
		if got := strings.Join(unused, " "); got != tc.unused {
			t.Errorf("%s: unused %q, want %q", name, got, tc.unused)
		}
	}
}

// nowhere is a Sink for tests that look at something else.
type nowhere struct{}

func (nowhere) Value(check.Value)     {}
func (nowhere) Finding(check.Finding) {}
func (nowhere) Problem(check.Problem) {}
func (nowhere) Note(check.Note)       {}
func (nowhere) Ignore(check.Ignore)   {}

type findings struct {
	nowhere
	all *[]string
}

func (f findings) Finding(one check.Finding) { *f.all = append(*f.all, one.Rule+" "+one.Path) }

// TestOrder: what is found about several files is at the first by its path, whichever is read first.
func TestOrder(t *testing.T) {
	const unit = "[Service]\nExecStart=/pay\nSlice=pay.slice\nEnvironment=GOMAXPROCS=2\n"
	t.Chdir(written(t, map[string]string{"pay1.service": unit, "pay2.service": unit, "pay.slice": "[Slice]\nCPUQuota=300%\n"}))
	for _, files := range [][]string{{"pay1.service", "pay2.service"}, {"pay2.service", "pay1.service"}} {
		c, to := New(Options{}), findings{all: &[]string{}}
		for _, file := range files {
			must.OK(t, c.File(t.Context(), check.NewFile(file, []byte(unit)), to))
		}
		must.OK(t, c.Finish(t.Context(), to))
		if !slices.Contains(*to.all, "PF045 pay1.service") || slices.Contains(*to.all, "PF045 pay2.service") {
			t.Errorf("%v: %v", files, *to.all)
		}
	}
}
