package procstat

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
)

// statLine is a real line of Linux 6.18, the name replaced.
const statLine = "4242 (a) b (c) S 1 4242 4242 0 -1 4194560 1215 0 3 0 150 25 7 8 20 0 9 0 123456 1843200000 2048 " +
	"18446744073709551615 1 1 0 0 0 0 0 0 2143420159 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

func TestParseStat(t *testing.T) {
	got, err := ParseStat([]byte(statLine))
	want := Stat{PID: 4242, Name: "a) b (c", State: 'S', Parent: 1, User: 1500 * time.Millisecond,
		System: 250 * time.Millisecond, Reaped: Times{70 * time.Millisecond, 80 * time.Millisecond}, Threads: 9, Started: 123456, MajorFaults: 3}
	if err != nil || got != want {
		t.Errorf("read %+v, %v; want %+v", got, err, want)
	}
	kthreadd := "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 4 0 0 " + strings.Repeat("0 ", 10)
	if got, err := ParseStat([]byte(kthreadd)); err != nil || !got.Kernel {
		t.Errorf("a kernel thread: %+v, %v", got, err)
	}
	ending := strings.Replace(statLine, " 4194560 ", " 4194564 ", 1)
	if got, err := ParseStat([]byte(ending)); err != nil || !got.Exiting || want.Exiting {
		t.Errorf("a process whose end has begun: %+v, %v", got, err)
	}
	for _, tt := range []struct{ in, says string }{
		{"", "no name"},
		{"1 )(", "no name"},
		{"x (a) S 1", "pid"},
		{"1 (a) S 1 2 3", "4 fields after the name"},
		{"1 (a) SS" + strings.Repeat(" 1", 30), "fields after the name"},
		{"1 (a) S -1" + strings.Repeat(" 1", 30), "field 2"},
		{strings.Replace(statLine, " 150 ", " 99999999999999999999 ", 1), "field 12"},
		{strings.Replace(statLine, " 25 ", " 18446744073709551615 ", 1), "field 13"},
	} {
		if _, err := ParseStat([]byte(tt.in)); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%.40q: error %v does not say %q", tt.in, err, tt.says)
		}
	}
}

func TestParseTask(t *testing.T) {
	v, i, err := parseSwitches([]byte("Name:\tx\nThreads:\t3\nvoluntary_ctxt_switches:\t17\nnonvoluntary_ctxt_switches:\t4\n"))
	if v != 17 || i != 4 || err != nil {
		t.Errorf("switches %d, %d, %v", v, i, err)
	}
	// A name cannot pass for a field: the kernel escapes its newlines.
	for _, in := range []string{"", "Name:\tvoluntary_ctxt_switches: 1\n", "\nvoluntary_ctxt_switches:\tx\n", "\nvoluntary_ctxt_switches:\t1\n"} {
		if _, _, err := parseSwitches([]byte(in)); err == nil {
			t.Errorf("%q: no error", in)
		}
	}
	ran, wait, err := parseSchedstat([]byte("123 456 7\n"))
	if ran != 123 || wait != 456 || err != nil {
		t.Errorf("ran %d, wait %d, %v", ran, wait, err)
	}
	for _, in := range []string{"", "1 2", "1 -2 3", "1 18446744073709551615 3"} {
		if _, _, err := parseSchedstat([]byte(in)); err == nil {
			t.Errorf("%q: no error", in)
		}
	}
}

func TestCPU(t *testing.T) {
	before := must.Get(parseCPU([]byte("cpu  100 0 50 1000 20 1 2 3 40 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n"), nil))(t)
	if want := (CPU{Total: 11760 * time.Millisecond, Idle: 10200 * time.Millisecond, Steal: 30 * time.Millisecond}); before != want {
		t.Errorf("read %+v, want %+v", before, want)
	}
	after := CPU{Total: before.Total + 4*time.Second, Idle: before.Idle + time.Second, Steal: before.Steal + time.Second}
	if got, want := after.Since(before), (HostUse{Steal: time.Second, Busy: 2 * time.Second, BusyRatio: 0.75}); got != want {
		t.Errorf("use %+v, want %+v", got, want)
	}
	back := CPU{Total: before.Total + time.Second, Idle: before.Idle - time.Second, Steal: before.Steal}
	if got := back.Since(before); got.BusyRatio != 1 {
		t.Errorf("idle time runs backwards: %+v", got)
	}
	if got := before.Since(before); got != (HostUse{}) {
		t.Errorf("an empty span: %+v", got)
	}
	for _, in := range []string{"", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 5 6 7 x", "cpu 1 2 3 4 5 6 7 18446744073709551615"} {
		if _, err := parseCPU([]byte(in), nil); err == nil {
			t.Errorf("%q: no error", in)
		}
	}
}

func TestCPUOfSome(t *testing.T) {
	const stat = "cpu  111 0 0 1110 0 0 0 0 0 0\ncpu0 1 0 0 10 0 0 0 0 0 0\ncpu1 10 0 0 100 0 0 0 0 0 0\ncpu10 100 0 0 1000 0 0 0 0 0 0\nintr 7 0\n"
	for _, tt := range []struct {
		cpus []int
		idle time.Duration
		says string // in the error
	}{
		{nil, 11100 * time.Millisecond, ""},
		{[]int{1}, time.Second, ""},
		{[]int{10, 0}, 10100 * time.Millisecond, ""},
		{[]int{0, 0}, 100 * time.Millisecond, ""},
		{[]int{0, 7}, 0, "CPU 7"},
		{[]int{-1}, 0, "CPU -1"},
	} {
		c, err := parseCPU([]byte(stat), tt.cpus)
		if tt.says != "" {
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("CPUs %v: error %v does not say %q", tt.cpus, err, tt.says)
			}
			continue
		}
		if err != nil || c.Idle != tt.idle || c.Total != tt.idle+tt.idle/10 {
			t.Errorf("CPUs %v: %+v, %v; want idle %v", tt.cpus, c, err, tt.idle)
		}
	}
}

func FuzzCPU(f *testing.F) {
	f.Add([]byte("cpu  100 0 50 1000 20 1 2 3 40 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n"), 0)
	f.Add([]byte("cpu 1 2 3 4 5 6 7 18446744073709551615\ncpu"), 1)
	f.Fuzz(func(t *testing.T, b []byte, cpu int) {
		for _, cpus := range [][]int{nil, {cpu}, {cpu, cpu}} {
			if c, err := parseCPU(b, cpus); err == nil && (c.Idle < 0 || c.Steal < 0 || c.busy() < 0) {
				t.Errorf("CPUs %v: %+v", cpus, c)
			}
		}
	})
}

func TestParseHost(t *testing.T) {
	for in, want := range map[string]string{
		"processor\t: 0\nmodel name\t: AMD EPYC: 7\nmodel name\t: other\n": "AMD EPYC: 7",
		"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n":     "implementer 0x41 part 0xd0c",
		"": "",
	} {
		if got := parseCPUModel([]byte(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if n, err := parseMemTotal([]byte("MemFree: 1 kB\nMemTotal:       4030464 kB\n")); n != 4030464*1024 || err != nil {
		t.Errorf("memory %d, %v", n, err)
	}
	for _, in := range []string{"", "MemTotal: x kB\n", "MemTotal:\n", "MemTotal: 18446744073709551615 kB"} {
		if _, err := parseMemTotal([]byte(in)); err == nil {
			t.Errorf("%q: no error", in)
		}
	}
}

func TestParseTaskstats(t *testing.T) {
	b := make([]byte, 328)
	for off, v := range map[int]uint64{16: 1, 24: 2, 32: 3, 264: 4, 272: 5, 280: 6, 288: 7} {
		binary.NativeEndian.PutUint64(b[off:], v)
	}
	if c, err := parseTaskstats(b); c != (counters{wait: 2, voluntary: 5, involuntary: 6}) || err != nil {
		t.Errorf("read %+v, %v", c, err)
	}
	if _, err := parseTaskstats(b[:280]); err == nil {
		t.Error("a short structure: no error")
	}
	binary.NativeEndian.PutUint64(b[24:], math.MaxUint64)
	if c, _ := parseTaskstats(b); c.wait < 0 {
		t.Errorf("wait %d", c.wait)
	}
	low, high := counters{1, 1, 1}, counters{3, 3, 3}
	for c, want := range map[counters]bool{{2, 2, 2}: true, {1, 3, 1}: true, {0, 2, 2}: false, {2, 4, 2}: false, {2, 2, 0}: false} {
		if c.between(low, high) != want {
			t.Errorf("%+v between %+v and %+v: want %v", c, low, high, want)
		}
	}
}

func TestProcess(t *testing.T) {
	at := func(user time.Duration, tasks map[int]counters) Reading {
		return Reading{Stat: Stat{User: user, Threads: 2}, tasks: tasks}
	}
	old := process{old: true, base: at(time.Second, nil)}
	old.look(at(time.Second, map[int]counters{1: {100, 10, 1}, 2: {50, 5, 0}}))
	old.look(at(2*time.Second, map[int]counters{1: {160, 14, 2}, 3: {7, 1, 1}})) // 2 has ended, 3 began
	old.look(at(3*time.Second, map[int]counters{1: {170, 15, 3}, 3: {2, 0, 0}})) // 3 is another thread by now
	var young, unread process
	young.look(at(time.Second, map[int]counters{9: {1000, 100, 10}}))
	unread.look(at(time.Second, nil))

	var u Use
	for _, p := range []*process{&old, &young, &unread} {
		p.addTo(&u)
	}
	want := Use{Processes: 3, User: 4 * time.Second, Voluntary: 105, Involuntary: 12, RunQueueWait: 1072, Uncounted: 1}
	if u != want {
		t.Errorf("use %+v, want %+v", u, want)
	}
}

func TestReading(t *testing.T) {
	began := time.Now()
	before := Reading{
		Stat: Stat{Started: 7, User: time.Second, System: time.Second, Threads: 3},
		At:   began, source: Tasks, tasks: map[int]counters{1: {wait: 10, voluntary: 5}, 2: {wait: 90, voluntary: 9}},
	}
	after := Reading{
		Stat: Stat{Started: 7, User: 3 * time.Second, System: time.Second, Threads: 2},
		At:   began.Add(2 * time.Second), source: Tasks, tasks: map[int]counters{1: {wait: 30, voluntary: 6}, 3: {wait: 4, involuntary: 2}},
	}
	want := Use{Source: Tasks, Duration: 2 * time.Second, Processes: 1, ThreadsMax: 2, User: 2 * time.Second, RunQueueWait: 24, Voluntary: 1, Involuntary: 2}
	if u := after.Since(before); u != want {
		t.Errorf("since: %+v, want %+v", u, want)
	}
	total := Use{Source: Tasks, Processes: 1, ThreadsMax: 2, User: 3 * time.Second, System: time.Second, RunQueueWait: 34, Voluntary: 6, Involuntary: 2}
	if u := after.Total(); u != total {
		t.Errorf("total: %+v, want %+v", u, total)
	}
	before.Started = 6
	if u := after.Since(before); u != total {
		t.Errorf("since another process of this PID: %+v, want %+v", u, total)
	}
	after.tasks = nil
	if u := after.Total(); u.Uncounted != 1 || u.User != 3*time.Second {
		t.Errorf("without its threads: %+v", u)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(statLine))
	f.Add([]byte("cpu  100 0 50 1000 20 1 2 3 40 0\n"))
	f.Add([]byte("Name:\tx\nvoluntary_ctxt_switches:\t17\nnonvoluntary_ctxt_switches:\t4\n"))
	for _, schedstat := range []string{"123 456 7\n", "-1 2 3", "9223372036854775807 1 1", "1 9223372036854775808 1"} {
		f.Add([]byte(schedstat))
	}
	f.Add([]byte("\npgmajfault 18446744073709551616\n"))
	f.Add([]byte("MemTotal:       4030464 kB\nmodel name\t: x\nCPU part: 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := ParseStat(b); err == nil && (s.PID < 1 || s.User < 0 || s.System < 0 || s.Threads < 0 || s.Parent < 0) {
			t.Errorf("%+v", s)
		}
		if v, i, err := parseSwitches(b); err == nil && (v < 0 || i < 0) {
			t.Error(v, i)
		}
		if busy, err := parseBusy(b); err == nil && busy < 0 {
			t.Errorf("%q: %v", b, busy)
		}
		if n, err := numberOf(b, "pgmajfault "); err == nil && (n < 0 || !bytes.Contains(b, strconv.AppendInt(nil, n, 10))) {
			t.Errorf("%q: %d", b, n)
		}
		if c, err := parseCPU(b, nil); err == nil && (c.Total < 0 || c.Idle < 0 || c.Steal < 0 || c.Idle > c.Total) {
			t.Errorf("%+v", c)
		}
		if n, err := parseMemTotal(b); err == nil && n < 0 {
			t.Error(n)
		}
		parseCPUModel(b)
	})
}
