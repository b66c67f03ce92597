package watch

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"time"
	"unsafe"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// hostile are names that a terminal must not obey, and that are hard to measure.
var hostile = []string{
	"\x1b[31mred\x1b[2J\x1b]0;title\x07", "new\nline\ttab\r", "日本語サーバー", "שרת-1.2.3", "\u202egnp.exe", "e\u0301te\u0301",
	"👨\u200d👩\u200d👧\u200d👦", "🇩🇪🇫🇷", "\xff\xfe\x80", "नमस्ते", "1\ufe0f\u20e3", "\x9b31m\u0085", strings.Repeat("long", 100), "", " ", "한글\u1100\u1161",
}

// world is a machine that changes from scan to scan in a way that is known.
type world struct {
	scans int
	procs int // in the second part of the list
}

// scan is the next snapshot.
func (w *world) scan() observe.Snapshot {
	i := w.scans
	w.scans++
	snap := observe.Snapshot{At: time.Unix(1_700_000_000+int64(i), 0).UTC(), Counters: "taskstats", Others: 211}
	wave := func(period float64) float64 { return (1 + math.Sin(2*math.Pi*float64(i)/period)) / 2 }
	add := func(p observe.Process) { snap.Processes = append(snap.Processes, p) }

	add(w.process(4242, "payments-api", 8, func(p *observe.Process, c *observe.Counts) {
		known(&p.Facts.Env, "8")
		limited(p, 2, "/kubepods/burstable/pod1f2e/payments")
		held(p, c, int64(3+6*wave(40)))
		c.Latency = latencies(time.Duration(float64(12*time.Millisecond) * (0.1 + wave(30))))
		c.RunQueueWait = time.Duration(float64(900*time.Millisecond) * wave(40))
	}))
	add(w.process(977, "ledger", 2, func(p *observe.Process, c *observe.Counts) {
		limited(p, 2, "/system.slice/ledger.service")
		held(p, c, 0)
		c.Latency = latencies(80 * time.Microsecond)
	}))
	add(w.process(1313, "fraud-scorer", 3, func(p *observe.Process, c *observe.Counts) {
		known(&p.Facts.Env, "2.5")
		limited(p, 2.5, "/kubepods/pod9/fraud")
		held(p, c, int64(10*wave(15)))
	}))
	add(w.process(20991, "gateway", 64, func(p *observe.Process, c *observe.Counts) {
		p.Facts.GoVersion = "go1.24.6"
		limited(p, 4, "/kubepods/pod7/gateway")
		held(p, c, 1)
		p.LiveSource = "decoded"
	}))
	add(w.process(31000, "node_exporter", 0, func(p *observe.Process, c *observe.Counts) {
		p.Live, p.LiveSource, p.LiveUnknown = nil, "", "process 31000: its memory: permission denied: run as root or with CAP_SYS_PTRACE"
	}))
	add(w.process(55, "dockerd", 64, nil))
	for j := range w.procs {
		name := fmt.Sprintf("worker-%d", j)
		if j < len(hostile) {
			name = hostile[j]
		}
		add(w.process(60_000+j, name, 1+j%70, nil))
	}
	if i < 20 { // one that ends
		add(w.process(777, "migrate", 4, nil))
	}
	for j := range 12 {
		snap.Unreadable = append(snap.Unreadable, observe.Unreadable{PID: 90_000 + j, Name: "x", Reason: "whole", Cause: observe.Denied})
	}
	return snap
}

// process has a live value; change fills in what else is known of it.
func (w *world) process(pid int, name string, live int, change func(*observe.Process, *observe.Counts)) observe.Process {
	f := facts.Facts{
		PID:       pid,
		Affinity:  facts.Fact{State: facts.Known, CPUs: 64},
		Online:    facts.Fact{State: facts.Known, CPUs: 64},
		Cgroup:    facts.Cgroup{Fact: facts.Fact{State: facts.Known}, Version: 2, MountRoot: "/"},
		Env:       facts.Fact{State: facts.Absent},
		GoVersion: "go1.26.1",
	}
	p := observe.Process{Subject: rule.Subject{Observed: rule.Observed{Place: rule.Place{PID: pid}, Name: name, Facts: f, NumCPU: 64, Live: &live, LiveSource: "symbol"}},
		Started: uint64(pid) * 100, Threads: 7 + pid%20}
	c := observe.Counts{Span: time.Second, CPU: 1930 * time.Millisecond, Counted: true, RunQueueWait: time.Duration(pid) * time.Microsecond,
		Voluntary: int64(pid), Latency: latencies(time.Duration(pid) * time.Nanosecond)}
	if change != nil {
		change(&p, &c)
	}
	p.Total = c
	if w.scans > 1 {
		p.Recent = &c
	}
	p.Subject = rule.NewSubject(p.Observed)
	p.Findings = rule.Judge(p.Subject)
	return p
}

func known(f *facts.Fact, raw string) { *f = facts.Fact{State: facts.Known, Raw: raw} }

func limited(p *observe.Process, cpus float64, dir string) {
	p.Facts.Limits = append(p.Facts.Limits, facts.Limit{Fact: facts.Fact{State: facts.Known, CPUs: cpus, Raw: fmt.Sprintf("%.0f 100000\n", cpus*100_000)}, Dir: "/sys/fs/cgroup" + dir})
}

// held is throttling in so many of ten periods.
func held(p *observe.Process, c *observe.Counts, periods int64) {
	c.Throttling = &rule.Throttling{Dir: p.Facts.Limits[0].Dir, Span: time.Second, Throttling: facts.Throttling{
		Periods: 10, ThrottledPeriods: periods, Throttled: time.Duration(periods) * 70 * time.Millisecond}}
	p.Throttling = c.Throttling
}

// latencies is a histogram of one duration. Its fields are its package's own.
func latencies(d time.Duration) *observe.Latency {
	var l observe.Latency
	const first = 8 // bits; four buckets for each power of two from there on
	n := max(64, uint64(d))
	power := max(0, bits.Len64(n)-first)
	bucket := power * 4
	if power > 0 {
		bucket += int(n>>(first-3+power)) % 4
	}
	(*[162]uint64)(unsafe.Pointer(&l))[bucket] = 100
	return &l
}

// explained is long, and no better than any other text from outside.
func explained(p observe.Process) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s runs with something\n  GOMAXPROCS is what the table says\n\n", p.Name)
	for i := range 40 {
		fmt.Fprintf(&b, "  go            %3d  step %d: %s\n", i, i, strings.Repeat("because of this ", i%9))
	}
	return b.String() + "the end\n"
}

var errScan = errors.New("open /proc: too many open files\x1b[2J")
