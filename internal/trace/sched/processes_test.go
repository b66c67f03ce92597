package sched

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// at is a line at a time, of that many Ps, with ticks if there are any.
func at(ms int64, procs int, ticks ...int64) string {
	s := fmt.Sprintf("SCHED %dms: gomaxprocs=%d idleprocs=0 threads=5 spinningthreads=0 idlethreads=1 runqueue=0 [%s]", ms, procs, strings.Repeat(" 0", procs)+" ")
	if len(ticks) > 0 {
		s += " schedticks=" + strings.Replace(fmt.Sprint(ticks), "[", "[ ", 1)
		s = strings.TrimSuffix(s, "]") + " ]"
	}
	return s + "\n"
}

// times2 are the lines of two Ps without ticks at these times.
func times2(ms ...int64) (s string) {
	for _, v := range ms {
		s += at(v, 2)
	}
	return s
}

func TestProcesses(t *testing.T) {
	crash := times2(0, 1003, 2006) + "panic: boom\n"
	alike := func(i int) string { return at(int64(i)*100, 2) + at(int64(i)*100+int64(min(i, 1)), 2) }
	var child string // that a parent starts every 25 samples
	for i := range 100 {
		child += at(int64(i)*101, 2)
		if i%25 == 10 {
			child += at(0, 2)
		}
		if i%25 == 11 {
			child += at(107, 2)
		}
	}
	for name, tc := range map[string]struct {
		log   string
		order Order
		// samples of each process in the order of their starts, an m where they
		// may be another's
		samples string
	}{
		"one":                     {repeat(20, func(i int) string { return at(int64(i)*100, 2) }), orderOne, "19"},
		"a panic at once":         {at(0, 2) + strings.Replace(detailLine, "5ms", "0ms", 1) + "\n" + strings.Replace(thread, "dying=0", "dying=1", 1) + "\n", orderOne, "0"},
		"the end of a log":        {times2(5000, 5101, 5202), orderOne, "3"},
		"late lines":              {times2(0, 101, 202, 900, 1001, 1800), orderOne, "5"},
		"other GOMAXPROCS":        {at(0, 2) + at(100, 2) + at(200, 4) + at(300, 4), orderOne, "3"},
		"a tick that wraps":       {at(0, 1, 4294967290) + at(100, 1, 4294967295) + at(200, 1, 9), orderOne, "2"},
		"crashes in a row":        {strings.Repeat(crash, 12), orderInTurn, "2 2 2 2 2 2 2 2 2 2 2 2"},
		"a longer one at the end": {crash + crash + times2(0, 1003, 2006, 3009, 4012), orderInTurn, "2 2 4"},
		"a late one at the end":   {times2(0, 105, 206) + times2(0, 105, 300, 401), orderInTurn, "2 3"},
		"starts alone":            {strings.Repeat(at(0, 2), 5), orderUnknown, "0 0 0 0 0"},
		"too short to tell":       {times2(0, 100, 200, 0, 100), orderUnknown, "2 1"},
		"a parent and children":   {child, orderAtOnce, "99 1 1 1 1"},
		"half an interval apart":  {times2(0, 0, 101, 101), orderAtOnce, "1 1"},
		"other Ps":                {repeat(20, func(i int) string { return at(int64(i)*100, 2) + at(int64(i)*100, 1) }), orderAtOnce, "19 19"},
		"other Ps, one to ten": {"" + at(50_000, 8) + repeat(100, func(i int) string {
			if i%10 == 9 {
				return at(int64(i)*100, 2) + at(50_000+int64(i/10+1)*1000, 8)
			}
			return at(int64(i)*100, 2)
		}), orderAtOnce, "11 99"},
		"a clock far ahead":      {repeat(10, func(i int) string { return at(int64(i)*100, 2) }) + repeat(10, func(i int) string { return at(int64(i)*100, 2) + at(1000+int64(i)*100, 2) }), orderAtOnce, "19 9"},
		"alike":                  {repeat(20, alike), orderAtOnce, "19m 19m"},
		"ticks that differ":      {repeat(20, func(i int) string { return at(int64(i)*100, 1, 7) + at(int64(i)*100, 1, int64(7+i)) }), orderAtOnce, "19 19"},
		"ticks that may be both": {repeat(20, func(i int) string { return at(int64(i)*100, 1, int64(i)*10) + at(int64(i)*100, 1, int64(i)*10+1) }), orderAtOnce, "19m 19m"},
		"ticks that fell once":   {repeat(20, func(i int) string { return at(int64(i)*100, 1, int64(100+i%10)) }), orderOne, "19"},
		"ticks that fall":        {repeat(20, func(i int) string { return at(int64(i)*100, 1, int64(100+i%2)) }), orderOne, "19m"},
		"GOMAXPROCS to and fro":  {repeat(20, func(i int) string { return at(int64(5000+i*50), 2+i%2) }), orderOne, "20m"},
		"no sense":               {repeat(20, func(i int) string { return at(int64(5000-i), 2) }), orderUnknown, "1m" + strings.Repeat(" 1", 19)},
	} {
		s := Analyse(strings.NewReader(tc.log))
		var got []string
		for _, g := range s.Segments {
			n := fmt.Sprint(g.Samples)
			if g.Mixed || g.Index == s.Main.Index && s.Interleaved() {
				n += "m"
			}
			got = append(got, n)
		}
		if g := strings.Join(got, " "); g != tc.samples || s.Order != tc.order {
			t.Errorf("%s: %s, %s; want %s, %s", name, g, s.Order, tc.samples, tc.order)
		}
		for _, g := range s.Segments {
			if !g.Mixed && g.TicksPerSecond != nil && *g.TicksPerSecond > 1000 {
				t.Errorf("%s: %g ticks a second", name, *g.TicksPerSecond)
			}
		}
	}
}

// TestToldApart: each line of the logs in testdata/atonce starts with a letter for
// the process that wrote it, which the reader does not look at. They are of Go 1.26
// programs with GOMAXPROCS=2, schedtrace=100, each with a pipe of its own. A
// process's first line may be swapped with that of one that starts with it.
func TestToldApart(t *testing.T) {
	for name, want := range map[string]struct {
		processes int64
		mixed     bool
	}{"alike": {2, false}, "three": {3, false}, "crowds": {2, true}, "restarts": {6, false}} {
		b, err := os.ReadFile("testdata/atonce/" + name + ".log")
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(b, []byte{'\n'})
		sc, mixed := NewScanner(bytes.NewReader(b)), false
		var l processes
		wrote := make(map[*process]byte)
		for sc.Scan() {
			s := sc.Sample()
			p, _ := l.writer(s)
			p.add(s)
			mixed = mixed || p.mixed
			letter := lines[s.Line-1][0]
			if s.Millis > 0 && wrote[p] == 0 {
				wrote[p] = letter
			}
			if !want.mixed && s.Millis > 0 && wrote[p] != letter {
				t.Errorf("%s: line %d is given to process %d, which wrote those of %c", name, s.Line, p.seg.Index, wrote[p])
			}
		}
		if l.begun != want.processes || mixed != want.mixed || l.order() != orderAtOnce {
			t.Errorf("%s: %d processes, mixed %t, %s", name, l.begun, mixed, l.order())
		}
	}
}

func TestSpread(t *testing.T) {
	for _, v := range []int64{0, 1, 99, 1023, 1024, 1025, 2047, 2048, 5000, 62_017, 3_600_000, maxMillis} {
		var s spread
		s.add(v)
		if m := *s.median(); m > float64(v) || m < float64(v)*(1-1./spreadParts) {
			t.Errorf("%d: %g", v, m)
		}
	}
	var s spread
	if s.median() != nil {
		t.Error("a median of nothing")
	}
	for _, v := range []int64{100, 101, 100, 3_600_000} {
		s.add(v)
	}
	if *s.median() != 100.5 {
		t.Error(*s.median())
	}
}
