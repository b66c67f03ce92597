package facts

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestParseThrottling(t *testing.T) {
	v1 := "nr_periods 40\nnr_throttled 13\nthrottled_time 1500000000\nnr_bursts 7\nburst_time 90000000\n"
	v2 := "usage_usec 71\nuser_usec 70\nsystem_usec 1\nnr_periods 40\nnr_throttled 13\nthrottled_usec 1500000\nnr_bursts 7\nburst_usec 90000\n"
	want := Throttling{Periods: 40, ThrottledPeriods: 13, Throttled: 1500 * time.Millisecond, Bursts: 7, Burst: 90 * time.Millisecond}
	for _, data := range []string{v1, v2, strings.Replace(v2, "nr_bursts 7\nburst_usec 90000\n", "", 1)} {
		if !strings.Contains(data, "nr_bursts") { // Linux before 5.14
			want.Bursts, want.Burst = 0, 0
		}
		if got, err := ParseThrottling(data); err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", data, got, err, want)
		}
	}
	for _, data := range []string{
		"", "usage_usec 71\n", "nr_periods 1\nnr_throttled x\nthrottled_time 1\n", "nr_periods 1\nnr_throttled -1\nthrottled_time 1\n",
		"nr_periods\nnr_throttled 1\nthrottled_time 1\n", "nr_periods 1\nnr_throttled 1\nthrottled_usec 9223372036854775807\n",
		"nr_periods 1\nnr_throttled 1\nthrottled_usec 1\nnr_bursts x\n", "nr_periods 1\nnr_throttled 1\nnr_bursts 1\nburst_usec 1\n",
	} {
		if got, err := ParseThrottling(data); err == nil {
			t.Errorf("%q was accepted as %+v", data, got)
		}
	}
}

func FuzzParseThrottling(f *testing.F) {
	f.Add("nr_periods 40\nnr_throttled 13\nthrottled_time 1500000000\n")
	f.Add("nr_periods 40\nnr_throttled 13\nthrottled_usec 1500000\nnr_bursts 7\nburst_usec 90000\n")
	f.Fuzz(func(t *testing.T, data string) {
		if s, err := ParseThrottling(data); err == nil && min(s.Periods, s.ThrottledPeriods, int64(s.Throttled), s.Bursts, int64(s.Burst)) < 0 {
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

// TestBurst: beside each known limit its burst is read, by version.
func TestBurst(t *testing.T) {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	const v1, v2 = "4:cpu,cpuacct:/pod/app\n", "0::/pod/app\n"
	for name, tc := range map[string]struct {
		cgroup, limit, period, burst string // "-": there is no such file
		want                         Fact
	}{
		"v2":             {v2, "200000 100000\n", "", "50000\n", Fact{State: Known, CPUs: 0.5, Raw: "50000\n"}},
		"v2 period":      {v2, "20000 10000\n", "", "20000\n", Fact{State: Known, CPUs: 2, Raw: "20000\n"}},
		"v2 none":        {v2, "200000 100000\n", "", "0\n", Fact{State: Known, Raw: "0\n"}},
		"v2 old kernel":  {v2, "200000 100000\n", "", "-", Fact{State: Absent}},
		"v2 malformed":   {v2, "200000 100000\n", "", "max\n", Fact{State: Malformed, Raw: "max\n"}},
		"v2 no limit":    {v2, "max 100000\n", "", "50000\n", Fact{}},
		"v1":             {v1, "200000\n", "50000\n", "100000\n", Fact{State: Known, CPUs: 2, Raw: "100000\n"}},
		"v1 none":        {v1, "200000\n", "100000\n", "0\n", Fact{State: Known, Raw: "0\n"}},
		"v1 old kernel":  {v1, "200000\n", "100000\n", "-", Fact{State: Absent}},
		"v1 no limit":    {v1, "-1\n", "100000\n", "0\n", Fact{}},
		"v1 is negative": {v1, "200000\n", "100000\n", "-5\n", Fact{State: Malformed, Raw: "-5\n"}},
	} {
		dir, file := "sys/fs/cgroup/cpu/pod/app/", "cpu.cfs_burst_us"
		tree := fstest.MapFS{
			"proc/self/cgroup":    text(tc.cgroup),
			"proc/self/mountinfo": text("30 23 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"),
		}
		if tc.cgroup == v2 {
			dir, file = "sys/fs/cgroup/pod/app/", "cpu.max.burst"
			tree["proc/self/mountinfo"] = text("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
			tree[dir+"cpu.max"] = text(tc.limit)
		} else {
			tree[dir+"cpu.cfs_quota_us"], tree[dir+"cpu.cfs_period_us"] = text(tc.limit), text(tc.period)
		}
		tree[dir+"cgroup.procs"] = text("1\n")
		if tc.burst != "-" {
			tree[dir+file] = text(tc.burst)
		}
		f, err := ReadFS(tree, 0)
		if err != nil || len(f.Limits) == 0 {
			t.Fatalf("%s: %+v, %v", name, f, err)
		}
		if tc.want.State != "" {
			tc.want.File = "/" + dir + file
		}
		got := f.Limits[0].Burst
		if (got.Error != "") != (tc.want.State == Malformed) {
			t.Errorf("%s: the error is %q", name, got.Error)
		}
		if got.Error = ""; got != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
	}
}
