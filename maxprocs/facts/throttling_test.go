package facts

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"
)

func TestParseThrottling(t *testing.T) {
	v1 := "nr_periods 40\nnr_throttled 13\nthrottled_time 1500000000\nnr_bursts 0\nburst_time 0\n"
	v2 := "usage_usec 71\nuser_usec 70\nsystem_usec 1\nnr_periods 40\nnr_throttled 13\nthrottled_usec 1500000\n"
	want := Throttling{Periods: 40, ThrottledPeriods: 13, Throttled: 1500 * time.Millisecond}
	for _, data := range []string{v1, v2} {
		if got, err := ParseThrottling(data); err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", data, got, err, want)
		}
	}
	for _, data := range []string{
		"", "usage_usec 71\n", "nr_periods 1\nnr_throttled x\nthrottled_time 1\n", "nr_periods 1\nnr_throttled -1\nthrottled_time 1\n",
		"nr_periods\nnr_throttled 1\nthrottled_time 1\n", "nr_periods 1\nnr_throttled 1\nthrottled_usec 9223372036854775807\n",
	} {
		if got, err := ParseThrottling(data); err == nil {
			t.Errorf("%q was accepted as %+v", data, got)
		}
	}
}

func FuzzParseThrottling(f *testing.F) {
	f.Add("nr_periods 40\nnr_throttled 13\nthrottled_time 1500000000\n")
	f.Add("nr_periods 40\nnr_throttled 13\nthrottled_usec 1500000\n")
	f.Fuzz(func(t *testing.T, data string) {
		if s, err := ParseThrottling(data); err == nil && (s.Periods < 0 || s.ThrottledPeriods < 0 || s.Throttled < 0) {
			t.Fatalf("%q gives a negative count: %+v", data, s)
		}
	})
}

// TestThrottlingOfARecord: a recorded limit answers from its tree, whatever this
// machine has at the same place, and one made by hand answers not at all.
func TestThrottlingOfARecord(t *testing.T) {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	tree := fstest.MapFS{
		"proc/self/cgroup":                   text("0::/pod/app\n"),
		"proc/self/mountinfo":                text("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
		"sys/fs/cgroup/cgroup.procs":         text(""),
		"sys/fs/cgroup/pod/cpu.max":          text("150000 100000\n"),
		"sys/fs/cgroup/pod/cpu.stat":         text("nr_periods 40\nnr_throttled 13\nthrottled_usec 1500000\n"),
		"sys/fs/cgroup/pod/app/cgroup.procs": text("1\n"),
		"sys/fs/cgroup/pod/app/cpu.max":      text("200000 100000\n"),
	}
	f, err := ReadFS(tree, 0)
	if err != nil || len(f.Limits) != 3 {
		t.Fatalf("%d limits, %v", len(f.Limits), err)
	}
	if _, err := f.Limits[0].Throttling(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the record has no cpu.stat there, and the error is %v", err)
	}
	want := Throttling{Periods: 40, ThrottledPeriods: 13, Throttled: 1500 * time.Millisecond}
	if got, err := f.Limits[1].Throttling(); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if f.Limits[1] == f.Limits[0] || f.Limits[1] != f.Limits[1:][0] {
		t.Error("limits cannot be compared")
	}

	root := "/sys/fs/cgroup" // there, in one form or the other, on any Linux
	byHand := Limit{Dir: root, Fact: Fact{State: Known, CPUs: 1}}
	if got, err := byHand.Throttling(); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a limit made by hand: %+v, %v", got, err)
	}
}
