package sched

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// The logs in testdata were written by testdata/program, built by the version in
// their name, with GOMAXPROCS=4 GODEBUG=schedtrace=100 (plain) or GOMAXPROCS=2
// GODEBUG=schedtrace=300,scheddetail=1 (detail).

func realLogs(t *testing.T, kind string) map[string][]byte {
	t.Helper()
	fewest := 24
	if need.NewGo() != "" {
		fewest = 1
	}
	paths, err := filepath.Glob(need.Recorded() + "/go*-" + kind + ".log")
	if err != nil || len(paths) < fewest {
		t.Fatalf("%d logs, %v", len(paths), err)
	}
	logs := make(map[string][]byte)
	for _, p := range paths {
		b := must.Get(os.ReadFile(p))(t)
		logs[strings.TrimSuffix(filepath.Base(p), ".log")] = b
	}
	return logs
}

func analyse(r io.Reader) *Summary { return Analyse(NewScanner(r)) }

func scanAll(b []byte) ([]*Sample, *Scanner) {
	s := NewScanner(bytes.NewReader(b))
	var all []*Sample
	s.scan(func(one *Sample) { all = append(all, one.clone()) })
	return all, s
}

// keyIn is the value of a key in a line as a regular expression finds it, Absent
// without one.
func keyIn(line, key string) int {
	m := regexp.MustCompile(` ` + key + `=(\d+)`).FindStringSubmatch(line)
	if m == nil {
		return absent
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

func checkHeader(t *testing.T, s *Sample, line string) {
	t.Helper()
	spinning := max(keyIn(line, "spinningthreads"), keyIn(line, "nmspinning"))
	for key, v := range map[string]struct{ got, want int }{
		"gomaxprocs":      {s.Procs, keyIn(line, "gomaxprocs")},
		"idleprocs":       {s.IdleProcs, keyIn(line, "idleprocs")},
		"threads":         {s.Threads, keyIn(line, "threads")},
		"spinningthreads": {s.SpinningThreads, spinning},
		"idlethreads":     {s.IdleThreads, keyIn(line, "idlethreads")},
		"runqueue":        {s.GlobalQueue, keyIn(line, "runqueue")},
	} {
		if v.got != v.want {
			t.Errorf("%s = %d, want %d in %s", key, v.got, v.want, line)
		}
	}
	if !strings.HasPrefix(line, "SCHED "+strconv.FormatInt(s.Millis, 10)+"ms:") {
		t.Errorf("%d ms: %s", s.Millis, line)
	}
}

func numbers(t *testing.T, list string) (v []int64) {
	t.Helper()
	for _, w := range strings.Fields(list) {
		v = append(v, must.Get(strconv.ParseInt(w, 10, 64))(t))
	}
	return v
}

func TestPlainOfEveryVersion(t *testing.T) {
	lists := regexp.MustCompile(`\[([^]]*)\]`)
	for name, log := range realLogs(t, "plain") {
		samples, sc := scanAll(log)
		lines := strings.Split(strings.TrimSuffix(string(log), "\n"), "\n")
		if len(samples) != len(lines) || len(samples) < 5 || sc.skipped.Count != 0 || sc.counts.OtherBytes != 0 {
			t.Errorf("%s: %d samples of %d lines, %+v, %+v", name, len(samples), len(lines), sc.counts, sc.skipped)
			continue
		}
		for i, s := range samples {
			checkHeader(t, s, lines[i])
			if s.Line != int64(i+1) || s.Detail != nil || s.Procs != 4 {
				t.Errorf("%s: %+v", name, s)
			}
			found := lists.FindAllStringSubmatch(lines[i], -1)
			var ticks []int64
			if len(found) == 2 {
				ticks = numbers(t, found[1][1])
			}
			if !slices.Equal(s.LocalQueues, numbers(t, found[0][1])) || !slices.Equal(s.SchedTicks, ticks) {
				t.Errorf("%s: queues %v, ticks %v of %s", name, s.LocalQueues, s.SchedTicks, lines[i])
			}
		}
	}
}

func TestDetailOfEveryVersion(t *testing.T) {
	for name, log := range realLogs(t, "detail") {
		samples, sc := scanAll(log)
		if sc.skipped.Count != 0 || sc.counts.OtherBytes != 0 || len(samples) < 2 {
			t.Errorf("%s: %d samples, %+v, %+v", name, len(samples), sc.counts, sc.skipped)
			continue
		}
		for i, text := range strings.Split(strings.TrimPrefix(string(log), "SCHED "), "SCHED ") {
			s, lines := samples[i], strings.Split("SCHED "+text, "\n")
			checkHeader(t, s, lines[0])
			if s.Detail == nil {
				t.Errorf("%s: no detail", name)
				continue
			}
			checkDetail(t, name, s, lines[1:])
		}
	}
}

func checkDetail(t *testing.T, name string, s *Sample, lines []string) {
	t.Helper()
	d := s.Detail
	var want Detail
	reasons := make(map[string]int)
	procs, threads := 0, 0
	reason := regexp.MustCompile(`status=(\d+)\((.*)\) m=`)
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "  P"):
			if s.LocalQueues[procs] != int64(keyIn(l, "runqsize")) || s.SchedTicks[procs] != int64(keyIn(l, "schedtick")) {
				t.Errorf("%s: P %d: %v %v of %s", name, procs, s.LocalQueues, s.SchedTicks, l)
			}
			procs++
		case strings.HasPrefix(l, "  M"):
			threads++
			none := func(key string) bool { return strings.Contains(l, key+"=nil") || strings.Contains(l, key+"=-1") }
			if none(" p") && !none(" curg") {
				want.OffProc++
			}
		case strings.HasPrefix(l, "  G"):
			m := reason.FindStringSubmatch(l)
			status, _ := strconv.Atoi(m[1])
			if status &^= scanBit; status != 6 && status != 11 {
				want.Goroutines++
			}
			if status < len(want.ByStatus) {
				want.ByStatus[status]++
			}
			if status == 4 {
				reasons[m[2]]++
			}
		}
	}
	have := *d
	have.Reasons = nil
	if procs != s.Procs || len(s.LocalQueues) != procs || threads != s.Threads || !reflect.DeepEqual(have, want) || !maps.Equal(d.Reasons, reasons) {
		t.Errorf("%s: %d Ps and %d M lines of %+v; %+v, want %+v; %v, want %v", name, procs, threads, s, have, want, d.Reasons, reasons)
	}
}

// TestFieldsOfEveryVersion holds Since and Until against the real logs.
func TestFieldsOfEveryVersion(t *testing.T) {
	number := func(v string) int {
		parts := strings.Split(strings.TrimPrefix(v, "go"), ".")
		return must.Get(strconv.Atoi(parts[1]))(t)
	}
	key := regexp.MustCompile(`(\w+)=`)
	logs := realLogs(t, "plain")
	for name, log := range realLogs(t, "detail") {
		logs[name] = log
	}
	for name, log := range logs {
		version, kind, _ := strings.Cut(name, "-")
		want := make(map[string]bool)
		for _, f := range Fields() {
			if f.Name == "SCHED" || f.Name == "[…]" || f.Detail && kind == "plain" || f.Name == "schedticks" && kind == "detail" {
				continue
			}
			if number(version) >= number(f.Since) && (f.Until == "" || number(version) <= number(f.Until)) {
				want[f.Where+" "+f.Name] = true
			}
		}
		got := make(map[string]bool)
		for line := range strings.Lines(string(log)) {
			where := "SCHED"
			if strings.HasPrefix(line, "  ") {
				where = line[2:3]
			}
			for _, m := range key.FindAllStringSubmatch(line, -1) {
				got[where+" "+m[1]] = true
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: printed are %v, Fields has %v", name, got, want)
		}
	}
}

func TestChattyLog(t *testing.T) {
	b := must.Get(os.ReadFile("testdata/go1.27.1-chatty.log"))(t)
	samples, sc := scanAll(b)
	// The program's own line fell between two writes of schedticks.
	if len(samples) != 1 || samples[0].SchedTicks != nil || len(samples[0].LocalQueues) != 4 {
		t.Errorf("%+v", samples)
	}
	if k := sc.skipped; k.Count != 1 || !strings.Contains(k.First[0].Text, "8942026/01/02") {
		t.Errorf("%+v", k)
	}
	if c := sc.counts; c.Lines != 16 || c.OtherLines != 15 {
		t.Errorf("%+v", c)
	}
}

func TestPanicLog(t *testing.T) {
	b := must.Get(os.ReadFile("testdata/go1.27.1-panic.log"))(t)
	// A fatal panic prints a sample with details, whatever was asked for; this one
	// came before sysmon's first.
	samples, sc := scanAll(b)
	if len(samples) != 2 || samples[0].Detail == nil || samples[1].Detail != nil || sc.skipped.Count != 0 || sc.counts.OtherLines == 0 {
		t.Errorf("%+v, %+v, %+v", samples, sc.skipped, sc.counts)
	}
}

// The go command, two that ended at once, and the program.
func TestGoRunLog(t *testing.T) {
	f := must.Get(os.Open("testdata/go1.26.8-gorun.log"))(t)
	defer f.Close()
	s := analyse(f)
	if !s.Interleaved() || s.SegmentCount != 4 || s.Counts.OtherLines != 2 {
		t.Errorf("%d processes, %+v", s.SegmentCount, s.Main)
	}
	if r := Readings(s); r[0].ID != "interleaved" || r[0].Severity != Warning || !strings.Contains(r[0].Advice, "go run") {
		t.Errorf("%+v", r)
	}
}

// clone copies a sample, to keep it past the next Scan.
func (s *Sample) clone() *Sample {
	c := *s
	c.LocalQueues = slices.Clone(s.LocalQueues)
	c.SchedTicks = slices.Clone(s.SchedTicks)
	if s.Detail != nil {
		d := *s.Detail
		d.Reasons = maps.Clone(d.Reasons)
		c.Detail = &d
	}
	return &c
}
