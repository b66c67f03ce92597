package sched

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// at is a line at a time, of that many Ps, with ticks if there are any.
func at(ms int64, procs int, ticks ...int64) string {
	s := sched(ms, 0, 5, 0, 1, 0, strings.Repeat(" 0", procs))
	if len(ticks) > 0 {
		s = strings.TrimSuffix(s, "\n") + fmt.Sprintln(" schedticks="+fmt.Sprint(ticks))
	}
	return s
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
		log       string
		processes int64
		longest   int64 // samples; -1: several at once
	}{
		"one":                     {repeat(20, func(i int) string { return at(int64(i)*100, 2) }), 1, 19},
		"a panic at once":         {at(0, 2) + strings.Replace(detailLine, "5ms", "0ms", 1) + "\n" + strings.Replace(thread, "dying=0", "dying=1", 1) + "\n", 1, 0},
		"the end of a log":        {times2(5000, 5101, 5202), 1, 3},
		"late lines":              {times2(0, 101, 202, 900, 1001, 1800), 1, 5},
		"other GOMAXPROCS":        {at(0, 2) + at(100, 2) + at(200, 4) + at(300, 4), 1, 3},
		"a tick that wraps":       {at(0, 1, 4294967290) + at(100, 1, 4294967295) + at(200, 1, 9), 1, 2},
		"crashes in a row":        {strings.Repeat(crash, 12), 12, 2},
		"a longer one at the end": {crash + crash + times2(0, 1003, 2006, 3009, 4012), 3, 4},
		"a late one at the end":   {times2(0, 105, 206) + times2(0, 105, 300, 401), 2, 3},
		"a damaged line":          {times2(0, 100, 200, 30, 400, 500), 1, 4},
		"a second log's end":      {times2(0, 100, 200, 300) + times2(200, 300, 400), 2, 3},
		"the ends of two logs":    {times2(1000, 1100, 1200, 1300) + times2(500, 600, 700, 800, 900), 2, 5},
		"starts alone":            {strings.Repeat(at(0, 2), 5), 5, 0},
		"a parent and children":   {child, 5, -1},
		"a child that ends soon":  {times2(0, 100, 200, 300, 400, 0, 500, 600, 700), 2, -1},
		"other Ps":                {repeat(20, func(i int) string { return at(int64(i)*100, 2) + at(int64(i)*100, 1) }), 2, -1},
		"ticks that differ":       {repeat(20, func(i int) string { return at(int64(i)*100, 1, 7) + at(int64(i)*100, 1, int64(7+i)) }), 2, -1},
		"ticks that fall":         {repeat(20, func(i int) string { return at(int64(i)*100, 1, int64(100+i%2)) }), 1, -1},
		"changed in a slice each": {at(0, 8) + repeat(20, func(i int) string { return at(int64(i)*100+100, 2+6*(i%2)) }), 1, 20},
		"no sense":                {repeat(20, func(i int) string { return at(int64(5000-i), 2) }), 1, -1},
	} {
		s := analyse(strings.NewReader(tc.log))
		longest := s.Main.Samples
		if s.Interleaved() {
			longest = -1
		}
		if s.SegmentCount != tc.processes || longest != tc.longest {
			t.Errorf("%s: %d processes, the longest of %d samples; expected %d and %d", name, s.SegmentCount, longest, tc.processes, tc.longest)
		}
		if between := s.Main.IntervalMillis; between != nil && between.Min < 0 {
			t.Errorf("%s: %g ms between two samples", name, between.Min)
		}
	}
}

// Each log in testdata/atonce is of several Go 1.26 programs with GOMAXPROCS=2, schedtrace=100,
// that wrote at once.
func TestAtOnce(t *testing.T) {
	logs, err := filepath.Glob("testdata/atonce/*.log")
	if err != nil || len(logs) < 4 {
		t.Fatal(logs, err)
	}
	for _, name := range logs {
		b := must.Get(os.ReadFile(name))(t)
		if s := analyse(bytes.NewReader(b)); !s.Interleaved() || s.Unclear > 20 {
			t.Errorf("%s: line %d of %d processes", name, s.Unclear, s.SegmentCount)
		}
	}
}

func TestInterval(t *testing.T) {
	var none tally
	some := tally{intervals: []int64{100, 3_600_000, 101, 100}}
	if none.interval() != nil || *some.interval() != 100.5 {
		t.Error(none.interval(), *some.interval())
	}
}
