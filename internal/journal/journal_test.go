package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func ptr[T any](v T) *T { return &v }

func header() Header {
	return Header{Name: "x", Started: time.Unix(1, 0).UTC(), Plan: Plan{Blocks: 2, Seed: 7}}
}

func trial(block int) Trial {
	return Trial{
		Arm: Arm{Label: "2", Procs: ptr(2), Replicas: 1}, Role: RoleMeasure, Origin: OriginLocal, Block: block,
		Valid: true, ObservedProcs: []*int{ptr(2), nil}, ThroughputPerSecond: ptr(12.5),
		Phases: []Phase{{Mode: ModeClosed, Requests: 3}}, Warnings: []string{},
	}
}

func TestWriteThenRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	w, err := Create(path, header())
	if err != nil {
		t.Fatal(err)
	}
	for b := range 2 {
		if err := w.Append(trial(b)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if c.Header.Schema != Schema || c.Header.Plan.Seed != 7 || c.Torn != 0 {
		t.Errorf("header %+v, torn %d", c.Header, c.Torn)
	}
	want := trial(1)
	want.Kind = KindTrial
	if len(c.Trials) != 2 || !reflect.DeepEqual(c.Trials[1], want) {
		t.Errorf("trials %+v, want the second to be %+v", c.Trials, want)
	}
	if _, err := Create(path, header()); !errors.Is(err, os.ErrExist) {
		t.Errorf("Create over a journal: %v, want that it exists", err)
	}
}

// What was not measured is null, so that nobody takes it for zero.
func TestAbsentIsNull(t *testing.T) {
	b, err := json.Marshal(Trial{ObservedProcs: []*int{nil}})
	if err != nil {
		t.Fatal(err)
	}
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
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	w, err := Create(path, header())
	if err != nil {
		t.Fatal(err)
	}
	for b := range 2 {
		if err := w.Append(trial(b)); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	for cut := second; cut <= len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		w, c, err := Open(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if err := w.Append(trial(9)); err != nil {
			t.Fatal(err)
		}
		w.Close()
		want := 1
		if cut >= len(whole)-1 { // whole, or whole but for its newline
			want = 2
		}
		after, err := ReadFile(path)
		if err != nil || len(c.Trials) != want || len(after.Trials) != want+1 || after.Trials[want].Block != 9 {
			t.Fatalf("cut at %d: %d trials read, %+v after the next one, %v; want %d", cut, len(c.Trials), after, err, want)
		}
	}
}

func TestBadJournals(t *testing.T) {
	good := `{"schema":"procfit.journal/v1","kind":"header"}` + "\n"
	for name, tc := range map[string]struct{ in, want string }{
		"empty":        {"", "it is empty"},
		"not JSON":     {"hello\n", `j:1: not a line of a journal: "hello"`},
		"no header":    {`{"kind":"trial"}` + "\n", "not a procfit journal"},
		"newer":        {`{"schema":"procfit.journal/v2","kind":"header"}` + "\n", "newer procfit; update procfit"},
		"newer, torn":  {`{"schema":"procfit.journal/v2","kind":"header"}`, "newer procfit; update procfit"},
		"zero":         {`{"schema":"procfit.journal/v0","kind":"header"}` + "\n", "unknown"},
		"hole":         {good + "{\n" + `{"kind":"trial"}` + "\n", "j:2: not a line"},
		"wrong type":   {good + `{"kind":"trial","block":"x"}` + "\n", "j:2: "},
		"torn header":  {`{"schema":"procfit.jour`, "j:1: "},
		"binary":       {"\x00\x01\x02\n", "j:1: "},
		"another tool": {`{"schema":"other/v1","kind":"header"}` + "\n", "not a procfit journal"},
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
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	w, err := Create(path, header())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, _, err := Open(path); err == nil || !strings.Contains(err.Error(), "another procfit") {
		t.Errorf("a second writer: %v", err)
	}
	if _, err := ReadFile(path); err != nil {
		t.Errorf("a reader beside the writer: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"schema":"procfit.journal/v1","kind":"header"}` + "\n" + `{"kind":"trial","arm":{"procs":2}}` + "\n" + `{"ki`))
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
