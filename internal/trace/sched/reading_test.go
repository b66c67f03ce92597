package sched

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// sched is one line of eight Ps unless queues says otherwise.
func sched(ms int64, idle, threads, spinning, idleThreads, global int, queues string) string {
	return fmt.Sprintf("SCHED %dms: gomaxprocs=%d idleprocs=%d threads=%d spinningthreads=%d idlethreads=%d runqueue=%d [%s]\n",
		ms, len(strings.Fields(queues)), idle, threads, spinning, idleThreads, global, queues)
}

func repeat(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
	}
	return b.String()
}

const even = "5 5 5 5 5 5 5 5"
const none = "0 0 0 0 0 0 0 0"

func detailed(i, mutex, io int) string {
	return strings.Replace(detailLine, "SCHED 5ms", fmt.Sprintf("SCHED %dms", i*1000), 1) + "\n" + procLine + "\n" + goroutine + "\n" +
		strings.Repeat("  G9: status=4(sync.Mutex.Lock) m=nil lockedm=nil\n", mutex) +
		strings.Repeat("  G9: status=4(IO wait) m=nil lockedm=nil\n", io)
}

// A program that procfit ran gets advice for procfit, which is not what was done already.
func TestMoreSamples(t *testing.T) {
	for name, c := range map[string]struct {
		log      string
		interval time.Duration
		want     string
	}{
		"a command":              {"SCHED 0ms: gomaxprocs=8 idleprocs=0 threads=9 spinningthreads=0 needspinning=0 idlethreads=0 runqueue=0 [0 0 0 0 0 0 0 0]\n", 100 * time.Millisecond, "shorter intervals with --interval 10ms"},
		"a command with details": {"hello\n", time.Second, "shorter intervals with --interval 10ms"},
		"one that was short":     {"hello\n", 100 * time.Millisecond, "trace it again with --interval 15ms, as it took 313 ms"},
		"a short interval":       {"hello\n", 10 * time.Millisecond, "--interval 1ms"},
		"the shortest":           {"hello\n", time.Millisecond, "give the program more to do"},
		"a log":                  {"hello\n", 0, "GODEBUG=schedtrace=1000"},
	} {
		s := analyse(strings.NewReader(c.log))
		s.Run.Interval = c.interval
		if strings.HasSuffix(name, "that was short") {
			s.Run.Wall = 313 * time.Millisecond
		}
		got := few(s)
		if got == nil || !strings.Contains(got.Advice, c.want) || c.interval > 0 && strings.Contains(got.Advice, "GODEBUG") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestReadings(t *testing.T) {
	line := func(idle, threads, spinning, idleThreads, global int, queues string) func(int) string {
		return func(i int) string {
			return sched(int64(i)*1000, idle, threads, spinning, idleThreads, global, queues)
		}
	}
	unqueued := func(i int) string { // as grep SCHED leaves it of a log with details
		return fmt.Sprintf("SCHED %d000", i) + strings.Replace(detailLine[len("SCHED 5"):], "idleprocs=0", "idleprocs=2", 1) + "\n"
	}
	for name, tc := range map[string]struct {
		log  string
		ids  string // all of them, in order
		text string // in the text of the last
	}{
		"nothing":            {"hello\n", "no-samples", "no sample in 1 line"},
		"only the start":     {sched(0, 0, 9, 0, 0, 40, none), "few-samples", "only 0 samples"},
		"few":                {repeat(10, line(0, 9, 0, 0, 40, even)), "few-samples", "only 9 samples of one process after its start"},
		"cpu-bound":          {repeat(21, line(0, 9, 0, 0, 0, even)), "cpu-bound", "all 8 Ps busy in 100% of 20 samples and 40 goroutines waiting on average: CPU-bound at this GOMAXPROCS"},
		"two Ps busy":        {repeat(21, line(0, 9, 0, 0, 9, "1 1")), "cpu-bound", ""},
		"one P":              {repeat(21, line(0, 9, 0, 7, 0, "3")), "cpu-bound", "the one P busy in 100% of 20 samples"},
		"mostly":             {repeat(19, line(0, 9, 0, 0, 0, even)) + sched(19000, 1, 9, 0, 0, 0, even) + sched(20000, 0, 9, 0, 0, 0, even), "cpu-bound", "all 8 Ps busy in 95% of 20 samples"},
		"busy":               {repeat(21, line(0, 9, 0, 0, 1, none)), "busy", "almost no goroutine waits: 1 on average"},
		"idle":               {repeat(21, line(6, 9, 0, 6, 0, none)), "idle-procs", "6 of 8 Ps idle in the median sample, at least half of them in 100% of 20: GOMAXPROCS is not what limits it"},
		"all idle":           {repeat(21, line(8, 9, 0, 7, 0, none)), "all-idle", "all 8 Ps idle in 100% of 20 samples"},
		"half busy":          {repeat(21, line(3, 9, 0, 3, 0, none)), "", ""},
		"idle and queued":    {repeat(21, line(6, 9, 0, 6, 0, "1 1 0 0 0 0 0 0")), "idle-and-queued", "2 goroutines on average"},
		"global":             {repeat(21, line(0, 9, 0, 0, 100, even)), "cpu-bound", ""},
		"two Ps":             {repeat(21, line(0, 9, 0, 0, 0, "18 18 0 1 1 1 1 0")), "cpu-bound queue-skew", "Ps 0 and 1 hold 90% of the goroutines queued on Ps (36 of 40 on average, over 20 samples)"},
		"one P holds all":    {repeat(21, line(0, 9, 0, 0, 0, "0 9 0 0")), "cpu-bound queue-skew", "P 1 holds 100% "},
		"queues far beyond":  {repeat(21, line(0, 9, 0, 0, 0, strings.Repeat("0 ", maxTracked)+"9000")), "cpu-bound", ""},
		"hardly any queue":   {repeat(21, line(0, 9, 0, 0, 0, "1 0 0 0 0 0 0 0")), "busy", ""},
		"blocked threads":    {repeat(21, line(3, 106, 0, 0, 0, none)), "blocked-threads", "106 threads on average, at most 106, and about 100 of them are neither idle nor on one of the 8 Ps"},
		"threads at large":   {repeat(21, line(3, 6006, 0, 0, 0, none)), "blocked-threads", "6006 threads"},
		"late":               {repeat(21, line(3, 9, 0, 3, 0, none)) + sched(31_000, 3, 9, 0, 3, 0, none), "late-samples", "no sample for 11 s, where one comes every 1 s, and every 1.48 s on average"},
		"late once, of many": {repeat(201, line(3, 9, 0, 3, 0, none)) + sched(204_000, 3, 9, 0, 3, 0, none), "late-samples", "no sample for 4 s, where one comes every 1 s"},
		"late or unread":     {repeat(21, line(3, 9, 0, 3, 0, none)) + "SCHED 21000ms: gom\nSCHED 22000ms: gom\n" + sched(31_000, 3, 9, 0, 3, 0, none), "unread", ""},
		"an hour":            {repeat(60, line(3, 9, 0, 3, 0, none)) + sched(3_659_000, 3, 9, 0, 3, 0, none), "late-samples", "where one comes every 1 s"},
		"spins, mostly idle": {repeat(300, func(i int) string { return sched(int64(i)*10, 8-i%20/19, 9, i%20/19, 3, 0, none) }), "all-idle", ""},
		"one spike":          {repeat(60, line(0, 9, 0, 0, 0, none)) + sched(60_000, 0, 9, 0, 0, 800, none), "busy", "and goroutines wait in 2% of them: 13 on average, at most 800"},
		"one P of two":       {repeat(21, line(1, 9, 0, 3, 0, "0 0")), "idle-procs", "GOMAXPROCS is not what limits it. Only one is busy in 100% of them"},
		"bursts":             {repeat(21, func(i int) string { return sched(int64(i)*1000, 2*min(i%5/2, 1), 9, 0, 3, 1-min(i%5/2, 1), "0 0") }), "", ""},
		"bursts, no queue":   {repeat(21, func(i int) string { return sched(int64(i)*1000, 2*min(i%5/2, 1), 9, 0, 3, 0, "0 0") }), "idle-procs", ""},
		"one burst of 20":    {repeat(21, func(i int) string { return sched(int64(i)*1000, min(i/2, 1), 9, 0, 3, 0, "0 0") }), "idle-procs", "at least half of them in 95% of 20"},
		"grew once":          {repeat(20, line(0, 9, 0, 0, 0, "3 3 3 3")) + sched(20_000, 0, 9, 0, 0, 0, "3 3 3 3 90"), "gomaxprocs-changed cpu-bound", ""},
		"changed":            {repeat(15, line(0, 9, 0, 0, 0, even)) + repeat(15, func(i int) string { return sched(15_000+int64(i)*1000, 0, 3, 0, 0, 9, "1 1") }), "gomaxprocs-changed cpu-bound", "all Ps busy"},
		"two processes":      {repeat(15, line(3, 9, 0, 3, 0, none)) + repeat(30, line(0, 9, 0, 0, 0, even)), "processes cpu-bound", "in 100% of 29"},
		"unread":             {repeat(21, line(3, 9, 0, 3, 0, none)) + "SCHED 99ms: gomax", "unread", `1 line of a trace could not be read; 21 samples could; the first: line 22: "SCHED 99ms: gomax" breaks off`},
		"locks":              {repeat(12, func(i int) string { return detailed(i, 9, 3) }), "cpu-bound lock-waits", "9 of 12 waiting goroutines wait for a sync.Mutex"},
		"network":            {repeat(12, func(i int) string { return detailed(i, 1, 90) }), "cpu-bound waits", `90 of 91 waiting goroutines wait in "IO wait", over 11 samples`},
		"few with details":   {repeat(5, func(i int) string { return detailed(i, 1, 90) }) + repeat(30, func(i int) string { return sched(5000+int64(i)*1000, 3, 9, 0, 3, 0, none) }), "gomaxprocs-changed", ""},
		"binary":             {"\x00\xff\x01SCHED\x00" + strings.Repeat("\xfe\n", 50), "no-samples", ""},
		"queues unread":      {repeat(21, unqueued), "", ""},
		"all but one unread": {strings.ReplaceAll(repeat(21, unqueued), "runqueue=0", "runqueue=3"), "", ""},
		"threads few, Ps 64": {repeat(21, line(3, 80, 0, 3, 0, strings.Repeat("0 ", 64))), "", ""},
	} {
		var ids []string
		readings := Readings(analyse(strings.NewReader(tc.log)))
		for _, r := range readings {
			ids = append(ids, r.ID)
			if r.Severity != Info && r.Severity != Warning || r.Text == "" || strings.Contains(r.Text+r.Advice, "%!") {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if got := strings.Join(ids, " "); got != tc.ids {
			t.Errorf("%s: %q, want %q: %+v", name, got, tc.ids, readings)
		} else if len(readings) > 0 && !strings.Contains(readings[len(readings)-1].Text, tc.text) {
			t.Errorf("%s: %q, want %q", name, readings[len(readings)-1].Text, tc.text)
		}
	}
}

// TestReadingsSeverity: what asks for action is a warning.
func TestReadingsSeverity(t *testing.T) {
	for _, tc := range []struct {
		log  string
		want []string
	}{
		{repeat(21, func(i int) string { return sched(int64(i), 4, 6006, 0, 0, 0, "9 0 0 0 0 0 0 0") }), []string{"queue-skew", "blocked-threads"}},
		{repeat(21, func(i int) string { return sched(int64(i), 0, 9, 0, 0, 0, "9 0 0 0 0 0 0 0") }), []string{"cpu-bound"}},
	} {
		var got []string
		for _, r := range Readings(analyse(strings.NewReader(tc.log))) {
			if r.Severity == Warning {
				got = append(got, r.ID)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%v, want %v", got, tc.want)
		}
	}
}

// TestReadingsOfARun: what is known of the command corrects what its trace says.
func TestReadingsOfARun(t *testing.T) {
	idleLog := repeat(21, func(i int) string { return sched(int64(i)*100, 8, 9, 0, 3, 0, none) })
	// As under a quota of a tenth of a CPU.
	starved := repeat(40, func(i int) string { return sched(int64(i/3*900+[]int{0, 100, 500}[i%3]), 3, 9, 0, 3, 0, none) })
	own := repeat(30, func(i int) string { return sched(int64(i)*1000, 3, 9, 0, 3, 0, none) })
	for name, tc := range map[string]struct {
		log  string
		run  Run
		want string // in the last reading's text
		not  string // in none's text or advice
	}{
		"computes elsewhere":   {idleLog, Run{CPU: 8 * time.Second, Wall: 4 * time.Second}, "though the command used 8.00 s of CPU time in 4.00 s", "no load"},
		"computes nothing":     {idleLog, Run{CPU: time.Second, Wall: 4 * time.Second}, "no Go code needs a P", "though"},
		"nothing is known":     {idleLog, Run{}, "no Go code needs a P", "though"},
		"starved":              {starved, Run{Interval: 100 * time.Millisecond}, "no sample for 400 ms, where one was asked for every 100 ms, and every", ""},
		"starved, nobody asks": {starved, Run{}, "", "no sample"},
		"an interval its own":  {own, Run{Interval: 100 * time.Millisecond}, "", "no sample"},
	} {
		s := analyse(strings.NewReader(tc.log))
		s.Run = tc.run
		var all, last string
		for _, r := range Readings(s) {
			all, last = all+r.Text+r.Advice, r.Text
		}
		if !strings.Contains(last, tc.want) || tc.not != "" && strings.Contains(all, tc.not) {
			t.Errorf("%s: %q, %q", name, last, all)
		}
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		procsList([]int{3}): "P 3", procsList([]int{0, 1, 5}): "Ps 0, 1 and 5",
		times(1): "once", times(3): "3 times",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFields(t *testing.T) {
	seen := make(map[string]bool)
	for _, f := range Fields() {
		if seen[f.Where+f.Name] || f.Unit == "" || f.Since == "" || !strings.HasSuffix(f.Meaning, ".") {
			t.Errorf("%+v", f)
		}
		seen[f.Where+f.Name] = true
	}
}

// TestFewSamplesOfALog reads what to do about a log by how long its program ran.
func TestFewSamplesOfALog(t *testing.T) {
	for name, tc := range map[string]struct{ log, want string }{
		"only the start": {sched(0, 0, 9, 0, 0, 40, none), "schedtrace=10:"},
		"0.3 s":          {repeat(4, func(i int) string { return sched(int64(i)*100, 0, 9, 0, 0, 0, none) }), "schedtrace=10:"},
		"9 s":            {repeat(10, func(i int) string { return sched(int64(i)*1000, 0, 9, 0, 0, 0, none) }), "schedtrace=100:"},
	} {
		if r := Readings(analyse(strings.NewReader(tc.log))); len(r) != 1 || !strings.Contains(r[0].Advice, tc.want) {
			t.Errorf("%s: %+v, want %q", name, r, tc.want)
		}
	}
}
