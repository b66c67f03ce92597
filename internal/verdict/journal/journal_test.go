package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// same quotes everything.
func same(text string) string { return text }

func header() Header {
	return Header{Name: "x", Spec: spec.Spec{Command: "sweep"}, Started: time.Unix(1, 0).UTC(), Plan: Plan{Blocks: 2, Seed: 7}}
}

// results is a results folder.
func results(t *testing.T) *folder.Dir {
	t.Helper()
	d := must.Get(folder.Make(filepath.Join(t.TempDir(), "results")))(t)
	t.Cleanup(func() { d.Close() })
	return d
}

func trial(block int) Trial {
	return Trial{
		Setting: Setting{Label: "2", Procs: new(2), Replicas: 1}, Role: RoleMeasure, Origin: OriginLocal, Block: block,
		Valid: true, ObservedProcs: []*int{new(2), nil}, ThroughputPerSecond: new(12.5),
		Phases: []Phase{
			{Mode: ModeClosed, Requests: 3},
			{Mode: ModeOpen, Judgement: Judgement{Judged: new(false), UnjudgedReason: UnjudgedFewRequests, Quantile: 0.95, QuantileSeconds: new(0.25)}},
		},
		Warnings: []Warning{{Code: WarnKilled, Value: new(5.0)}},
	}
}

func TestWriteThenRead(t *testing.T) {
	dir := results(t)
	w := must.Get(Create(dir, header(), same))(t)
	for b := range 2 {
		must.OK(t, w.Append(trial(b)))
	}
	must.OK(t, w.Close())
	c := must.Get(ReadDirectory(dir.Path()))(t)
	if c.Header.Schema != Schema || c.Header.Plan.Seed != 7 || c.Torn != 0 {
		t.Errorf("header %+v, torn %d", c.Header, c.Torn)
	}
	want := trial(1)
	want.Kind = KindTrial
	if len(c.Trials) != 2 || !reflect.DeepEqual(c.Trials[1], want) {
		t.Errorf("trials %+v, want the second to be %+v", c.Trials, want)
	}
	if _, err := Create(dir, header(), same); !errors.Is(err, os.ErrExist) {
		t.Errorf("Create over a journal: %v, want that it exists", err)
	}
}

// What was not measured is null, so that nobody takes it for zero.
func TestAbsentIsNull(t *testing.T) {
	b := must.Get(json.Marshal(Trial{ObservedProcs: []*int{nil}}))(t)
	for _, want := range []string{
		`"procs":null`, `"quota_cpus":null`, `"observed_procs":[null]`, `"throughput_per_second":null`, `"latency_seconds":null`,
		`"cpu_seconds":null`, `"context_switches":null`, `"run_queue_wait_seconds":null`, `"threads_max":null`, `"cgroup":null`, `"load":null`, `"host":null`,
	} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
}

func TestTornLastLine(t *testing.T) {
	dir := results(t)
	path := filepath.Join(dir.Path(), Name)
	w := must.Get(Create(dir, header(), same))(t)
	for b := range 2 {
		must.OK(t, w.Append(trial(b)))
	}
	w.Close()
	whole := must.Get(os.ReadFile(path))(t)
	second := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	step := 1
	if need.Raced { // without the detector, which is slow, every byte is tried
		step = 7
	}
	for cut := len(whole); cut >= second; cut -= step {
		must.OK(t, os.WriteFile(path, whole[:cut], 0o644))
		w, err := Open(dir, same)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		c := w.Contents()
		must.OK(t, w.Append(trial(9)))
		w.Close()
		want := 1
		if cut >= len(whole)-1 { // whole, or whole but for its newline
			want = 2
		}
		after, err := ReadDirectory(dir.Path())
		if err != nil || len(c.Trials) != want || len(after.Trials) != want+1 || after.Trials[want].Block != 9 {
			t.Fatalf("cut at %d: %d trials read, %+v after the next one, %v; want %d", cut, len(c.Trials), after, err, want)
		}
		if known := w.Contents(); !reflect.DeepEqual(known.Trials, after.Trials) || !reflect.DeepEqual(known.Header, after.Header) {
			t.Errorf("cut at %d: the writer has %+v, a reader %+v", cut, known, after)
		}
	}
}

func TestBadJournals(t *testing.T) {
	good := `{"schema":"procfit.journal/v3","kind":"header","spec":{"command":"sweep"}}` + "\n"
	for name, tc := range map[string]struct{ in, want string }{
		"empty":          {"", "no complete header"},
		"not JSON":       {"hello\n", `j:1: not a line of a journal: "hello"`},
		"no header":      {`{"kind":"trial"}` + "\n", "not a procfit journal"},
		"newer":          {`{"schema":"procfit.journal/v4","kind":"header"}` + "\n", "newer procfit; update procfit"},
		"newer, torn":    {`{"schema":"procfit.journal/v4","kind":"header"}`, "newer procfit; update procfit"},
		"zero":           {`{"schema":"procfit.journal/v0","kind":"header"}` + "\n", "unknown"},
		"older":          {`{"schema":"procfit.journal/v2","kind":"header"}` + "\n", "j:1: schema \"procfit.journal/v2\" is unknown; this procfit reads only \"procfit.journal/v3\": measure again"},
		"no command":     {`{"schema":"procfit.journal/v3","kind":"header","spec":{"command":""}}` + "\n", "j:1: its header does not have the command (spec.command)"},
		"no Spec":        {`{"schema":"procfit.journal/v3","kind":"header"}` + "\n" + `{"kind":"trial"}` + "\n", "j:1: its header does not have the command (spec.command)"},
		"hole":           {good + "{\n" + `{"kind":"trial"}` + "\n", "j:2: not a line"},
		"wrong type":     {good + `{"kind":"trial","block":"x"}` + "\n", "j:2: "},
		"torn header":    {`{"schema":"procfit.jour`, "no complete header"},
		"torn, not ours": {`{"schema":"other`, "j:1: "},
		"binary":         {"\x00\x01\x02\n", "j:1: "},
		"another tool":   {`{"schema":"other/v1","kind":"header"}` + "\n", "not a procfit journal"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(tc.in), "j")
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	c, err := Read(strings.NewReader(good+`{"kind":"remark"}`+"\n"), "j")
	if err != nil || len(c.Trials) != 0 {
		t.Errorf("an unknown kind: %+v, %v; want it passed over", c, err)
	}
}

func TestOneWriter(t *testing.T) {
	dir := results(t)
	w := must.Get(Create(dir, header(), same))(t)
	defer w.Close()
	if _, err := Open(dir, same); err == nil || !strings.Contains(err.Error(), "another procfit") {
		t.Errorf("a second writer: %v", err)
	}
	if _, err := ReadDirectory(dir.Path()); err != nil {
		t.Errorf("a reader beside the writer: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"schema":"procfit.journal/v3","kind":"header","spec":{"command":"sweep"}}` + "\n" + `{"kind":"trial","setting":{"procs":2}}` + "\n" + `{"ki`))
	f.Add([]byte(`{"schema":"procfit.journal/v3","kind":"header","spec":{"command":"sweep"}}` + "\n" + `{"kind":"trial","not_started":true,"warnings":[{"code":"killed"}]}` + "\n" + `{"kind":"trial"}` + "\n"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := Read(bytes.NewReader(in), "j")
		if err != nil {
			return
		}
		if c.size+c.Torn != int64(len(in)) {
			t.Errorf("%d bytes whole and %d torn of %d", c.size, c.Torn, len(in))
		}
		// What was kept must read the same again.
		again, err := Read(bytes.NewReader(in[:c.size]), "j")
		if err != nil || len(again.Trials) != len(c.Trials) {
			t.Errorf("the whole part reads as %+v, %v", again, err)
		}
	})
}

// A journal that is unlinked in mid-run takes all that is written, and is gone in
// the end: the next trial notices.
func TestRemoved(t *testing.T) {
	for name, remove := range map[string]func(path string) error{
		"unlinked": os.Remove,
		"replaced": func(path string) error {
			if err := os.Rename(path, path+".old"); err != nil {
				return err
			}
			return os.WriteFile(path, []byte("another"), 0o600)
		},
	} {
		dir := results(t)
		w := must.Get(Create(dir, header(), same))(t)
		must.OK(t, w.Append(trial(0)))
		must.OK(t, remove(filepath.Join(dir.Path(), Name)))
		if err := w.Append(trial(1)); !errors.Is(err, ErrRemoved) {
			t.Errorf("%s: %v, want that the journal is gone", name, err)
		}
		w.Close()
	}
}

// A header that a power loss tore holds no trial: the run is begun again.
func TestTornHeader(t *testing.T) {
	for _, torn := range []string{"", `{"sch`, `{"schema":"procfit.journal/v3","kind":"header","spec":{"command":"sweep"},"name":"x`} {
		dir := results(t)
		path := filepath.Join(dir.Path(), Name)
		must.OK(t, os.WriteFile(path, []byte(torn), 0o600))
		if _, err := Open(dir, same); !errors.Is(err, ErrEmpty) {
			t.Errorf("%q opens: %v", torn, err)
		}
		w, err := Create(dir, header(), same)
		if err != nil {
			t.Errorf("%q is not begun anew: %v", torn, err)
			continue
		}
		w.Close()
		if c, err := ReadDirectory(dir.Path()); err != nil || c.Header.Plan.Seed != 7 {
			t.Errorf("%q: then %+v, %v", torn, c, err)
		}
	}
	dir := results(t)
	path := filepath.Join(dir.Path(), Name)
	must.OK(t, os.WriteFile(path, []byte("notes of mine"), 0o600))
	if _, err := Create(dir, header(), same); !errors.Is(err, os.ErrExist) {
		t.Errorf("another's file is begun anew: %v", err)
	}
}

func TestTooManySettings(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"schema":"procfit.journal/v3","kind":"header","spec":{"command":"sweep"}}` + "\n")
	for i := range 100_000 {
		fmt.Fprintf(&b, `{"kind":"trial","setting":{"procs":%d}}`+"\n", i+1)
	}
	if _, err := Read(strings.NewReader(b.String()), "j"); err == nil || !strings.Contains(err.Error(), "more than 4096 settings") {
		t.Errorf("got %v", err)
	}
}

// A trial that could not be started stands until it was tried again.
func TestTriedAgain(t *testing.T) {
	in := `{"schema":"procfit.journal/v3","kind":"header","spec":{"command":"sweep"}}
{"kind":"trial","setting":{"label":"1","procs":1},"block":0,"not_started":true}
{"kind":"trial","setting":{"label":"2","procs":2},"block":0,"not_started":true}
{"kind":"trial","setting":{"label":"1","procs":1},"block":0,"valid":true}
{"kind":"trial","setting":{"label":"1","procs":1},"block":1,"valid":true}
`
	c := must.Get(Read(strings.NewReader(in), "j"))(t)
	if len(c.Trials) != 3 || *c.Trials[0].Setting.Procs != 2 || !c.Trials[1].Valid || !c.Trials[2].Valid {
		t.Errorf("trials %+v", c.Trials)
	}
	in += `{"kind":"trial","setting":{"label":"one","procs":1},"block":1}` + "\n"
	if _, err := Read(strings.NewReader(in), "j"); err == nil || !strings.Contains(err.Error(), "j:6: it has the trial of one in block 1 twice") {
		t.Errorf("a trial that was not to be tried again: %v", err)
	}
}

func TestIdentity(t *testing.T) {
	a := Setting{Label: "2", Procs: new(2), QuotaCPUs: new(0.5), Replicas: 0, GoVersion: "1.26"}
	b := Setting{Label: "two", Procs: new(2), QuotaCPUs: new(0.5), Replicas: 1, GoVersion: "1.26"}
	if a.Key() != b.Key() {
		t.Error("the same setting under another label is another setting")
	}
	for name, other := range map[string]Setting{
		"unset":        {QuotaCPUs: new(0.5), GoVersion: "1.26"},
		"no CPU limit": {Procs: new(2), GoVersion: "1.26"},
		"other Go":     {Procs: new(2), QuotaCPUs: new(0.5)},
		"replicas":     {Procs: new(2), QuotaCPUs: new(0.5), Replicas: 2, GoVersion: "1.26"},
		"old":          {Procs: new(2), QuotaCPUs: new(0.5), GoVersion: "1.26", Variant: VariantAgainst},
		"zero quota":   {Procs: new(2), QuotaCPUs: new(0.0), GoVersion: "1.26"},
	} {
		if other.Key() == a.Key() {
			t.Errorf("%s: one key with %+v", name, a)
		}
	}
}

// zeros have no end and no line break.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A journal may be of anybody: a line that does not end is refused, and so are more
// trials, or phases of a trial, than anybody measures.
func TestReadWithoutEnd(t *testing.T) {
	head := must.Get(json.Marshal(Header{Schema: Schema, Kind: KindHeader, Name: "x", Spec: spec.Spec{Command: "sweep"}}))(t)
	for name, r := range map[string]io.Reader{"the first": zeros{}, "the second": io.MultiReader(bytes.NewReader(append(head, '\n')), zeros{})} {
		if _, err := Read(r, "j"); err == nil || !strings.Contains(err.Error(), "a line is longer than 16 MiB") {
			t.Errorf("%s line does not end: %v", name, err)
		}
	}
	phases := io.MultiReader(bytes.NewReader(append(head, '\n')), strings.NewReader(`{"kind":"trial","phases":[`+strings.Repeat("{},", mostObjects)+"{}]}\n"))
	if _, err := Read(phases, "j"); err == nil || !strings.Contains(err.Error(), "more than 2000000 JSON objects") {
		t.Errorf("more phases than all trials have: %v", err)
	}
	c := newContents()
	c.Trials = make([]Trial, mostTrials)
	if err := c.addTrial(Trial{}); err == nil || !strings.Contains(err.Error(), "more than 200000 trials") {
		t.Errorf("one trial more than the most: %v", err)
	}
}
