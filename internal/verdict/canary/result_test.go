package canary

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// contents are of two settings beside a control: 1 takes 20 % less CPU time a request and
// has the control's latency, 2 is the control. The traffic doubles on the way.
func contents(n int) *Contents {
	c := &Contents{Header: Header{
		Schema: Schema, Kind: kindHeader, Started: time.Unix(1000, 0).UTC(), SliceSeconds: 60, DurationSeconds: float64(60 * n), Pods: 1, HarmRatio: 0.2,
		Rounds:  [][]journal.Setting{{SettingOf(nil), SettingOf(new(1)), SettingOf(new(2))}},
		Queries: []Query{{Requests, "$pods"}, {"p99", "$pods"}},
	}, End: &End{Code: EndComplete}}
	for i := range n {
		s := Slice{Index: i, Seconds: 60}
		wobble := 1 + 0.01*float64(i%3)
		requests := 1000 * (1 + float64(i)/float64(n))
		for j, a := range c.Header.Rounds[0] {
			cpu := requests * 0.001 * wobble
			if j == 1 {
				cpu *= 0.8 / wobble
			}
			seen := Seen{Setting: a, Pods: []string{"p"}, ObservedProcs: []*int{new(2)}, Requests: new(requests), Queries: map[string]*float64{"p99": new(0.02 * wobble)}}
			if j == 1 {
				seen.ObservedProcs = []*int{new(1)}
			}
			seen.Counted = Counted{PodSeconds: new(60.0), CPUSeconds: &cpu, RunQueueWaitSeconds: new(cpu / 10), Periods: new(int64(600)), ThrottledPeriods: new(int64(0)), SchedLatencyP99Seconds: new(0.001 * wobble)}
			s.Settings = append(s.Settings, seen)
		}
		c.Slices = append(c.Slices, s)
	}
	return c
}

func TestAnalyze(t *testing.T) {
	r := Analyze(contents(12))
	if !r.PerRequest || r.Counted != 12 || r.Planned != 12 || len(r.Settings) != 3 || r.Comparisons != 4 {
		t.Fatalf("%+v", r)
	}
	control, one, two := r.Settings[0], r.Settings[1], r.Settings[2]
	if control.Verdict != "" || control.Same || len(control.Better) > 0 {
		t.Errorf("control: %+v", control)
	}
	if one.Verdict != Better || one.Same || !slices.Equal(one.Better, []Figure{FigureCPU}) || len(one.Worse) > 0 {
		t.Errorf("1: %+v", one)
	}
	if two.Verdict != Open || !two.Same {
		t.Errorf("2: %+v", two)
	}
	// Paired by slice the doubled traffic is in neither.
	cpu := one.Of(FigureCPU)
	if math.Abs(*cpu.Ratio.Median-0.8/1.01) > 0.01 || cpu.Ratio.N != 12 || *cpu.Ratio.High > 0.82 {
		t.Errorf("CPU time: %g [%g, %g]", *cpu.Ratio.Median, *cpu.Ratio.Low, *cpu.Ratio.High)
	}
	if m := one.Of(FigureThrottled); m == nil || *m.Value.Median != 0 || m.Ratio.Median != nil {
		t.Errorf("throttled: %+v", m)
	}
	if m := one.Of(FigureRequests); m == nil || *m.Value.Median < 16 || *m.Value.Median > 34 {
		t.Errorf("requests: %+v", m)
	}
}

func TestAnalyzeWithoutRequests(t *testing.T) {
	c := contents(12)
	c.Header.Queries = nil
	for i := range c.Slices {
		for j := range c.Slices[i].Settings {
			c.Slices[i].Settings[j].Requests = nil
		}
	}
	r := Analyze(c)
	// No query tells a latency: waiting stands in for it.
	if r.Comparisons != 6 || !slices.Contains(r.Settings[1].Better, FigureWait) {
		t.Errorf("%d comparisons, better in %v", r.Comparisons, r.Settings[1].Better)
	}
	if m := r.Settings[1].Of(FigureCPU); r.PerRequest || m == nil || *m.Value.Median > 0.05 || r.Settings[1].Of(FigureRequests) != nil {
		t.Errorf("%+v", m)
	}
	if r := Analyze(&Contents{Header: c.Header}); r.Counted != 0 || r.Settings[1].Verdict != Open || len(r.Settings[1].Figures) != 0 {
		t.Errorf("of no slice: %+v", r)
	}
}

// Better in one figure is not better while another may be worse by more than its margin.
func TestBetterIsNoWorseInAnyOther(t *testing.T) {
	for name, c := range map[string]struct {
		p99  func(slice int) float64 // over the control's
		want Verdict
		open []Figure
	}{
		"the same":          {func(int) float64 { return 1 }, Better, []Figure{}},
		"5 % longer":        {func(int) float64 { return 1.05 }, Mixed, []Figure{}},
		"may be 3.6 times":  {func(i int) float64 { return 1.5 * math.Exp(1.2*math.Sin(float64(5*i))) }, Open, []Figure{"p99"}},
		"may be a bit more": {func(i int) float64 { return 1 + 0.1*math.Sin(float64(5*i)) }, Better, []Figure{}},
		"not known":         {nil, Open, []Figure{"p99"}},
	} {
		contents := contents(12)
		for i, s := range contents.Slices {
			if c.p99 == nil {
				s.Settings[1].Queries["p99"] = nil
			} else {
				s.Settings[1].Queries["p99"] = new(*s.Settings[0].Queries["p99"] * c.p99(i))
			}
		}
		one := Analyze(contents).Settings[1]
		if one.Verdict != c.want || !slices.Equal(one.Better, []Figure{FigureCPU}) || !slices.Equal(one.Untold, c.open) {
			t.Errorf("%s: %s, better in %v, worse in %v, open in %v: %+v", name, one.Verdict, one.Better, one.Worse, one.Untold, one.Of("p99"))
		}
	}
}

func TestJournal(t *testing.T) {
	dir, err := folder.Make(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	c := contents(2)
	w, err := Create(dir, c.Header)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Slices {
		if err := w.Slice(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.End(*c.End), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, c.Header); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a journal is begun over another: %v", err)
	}
	got, err := ReadDirectory(dir.Path())
	if err != nil || len(got.Slices) != 2 || got.End == nil || got.End.Code != EndComplete || got.Torn != 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	if got.Header.SliceSeconds != 60 || *got.Slices[1].Settings[1].CPUSeconds != *c.Slices[1].Settings[1].CPUSeconds || *got.Slices[0].Settings[2].Procs != 2 || *got.Slices[0].Settings[0].Queries["p99"] != 0.02 {
		t.Errorf("%+v", got)
	}
	b, err := os.ReadFile(filepath.Join(dir.Path(), Name))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	torn, err := Read(bytes.NewReader(slices.Concat(lines[0], lines[1], lines[2][:20])), "x")
	if err != nil || len(torn.Slices) != 1 || torn.Torn != 20 || torn.End != nil {
		t.Errorf("torn: %+v, %v", torn, err)
	}
	for name, text := range map[string]string{
		"empty": "", "no header": string(lines[1]), "a hole": string(lines[0]) + "{\n" + string(lines[1]), "a sweep's": `{"schema":"procfit.journal/v2","kind":"header"}` + "\n",
		"slices of nothing": `{"schema":"procfit.canary/v1","kind":"header","slice_seconds":0,"duration_seconds":1}` + "\n",
	} {
		if _, err := Read(strings.NewReader(text), "x"); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}

func FuzzRead(f *testing.F) {
	dir, err := folder.Make(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	c := contents(2)
	w, err := Create(dir, c.Header)
	if err == nil {
		err = errors.Join(w.Slice(c.Slices[0]), w.Slice(c.Slices[1]), w.End(*c.End), w.Close(), dir.Close())
	}
	if err != nil {
		f.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir.Path(), Name))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(text[:len(text)/2])
	wild := regexp.MustCompile(`"(cpu_seconds|p99)":[^,}]*`).ReplaceAll(text, []byte(`"$1":1e308`)) // and of hardly any requests
	f.Add(regexp.MustCompile(`"requests":[^,}]*`).ReplaceAll(wild, []byte(`"requests":1e-300`)))
	f.Add([]byte(`{"schema":"procfit.canary/v1","kind":"header","slice_seconds":1,"duration_seconds":1,"rounds":[[]]}` + "\n" + `{"kind":"slice","settings":[{}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := Read(bytes.NewReader(b), "x")
		if err != nil {
			return
		}
		r := Analyze(c)
		if r.Counted != len(c.Slices) {
			t.Errorf("%d slices of %d", r.Counted, len(c.Slices))
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	})
}
