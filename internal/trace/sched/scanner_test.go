package sched

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

const (
	oldLine    = "SCHED 1000ms: gomaxprocs=4 idleprocs=1 threads=5 spinningthreads=1 idlethreads=2 runqueue=0 [4 0 0 2]"
	newLine    = "SCHED 1000ms: gomaxprocs=2 idleprocs=0 threads=5 spinningthreads=0 needspinning=1 idlethreads=0 runqueue=7 [ 1 2 ] schedticks=[ 10 4294967295 ]"
	detailLine = "SCHED 5ms: gomaxprocs=2 idleprocs=0 threads=2 spinningthreads=0 needspinning=1 idlethreads=0 runqueue=0 gcwaiting=false nmidlelocked=0 stopwait=0 sysmonwait=false"
	procLine   = "  P0: status=1 schedtick=3 syscalltick=0 m=0 runqsize=6 gfreecnt=0 timerslen=0"
	thread     = "  M3: p=nil curg=7 mallocing=0 throwing=0 preemptoff=GC worker init locks=18 dying=0 spinning=false blocked=true lockedg=nil"
	goroutine  = "  G2: status=4(force gc (idle)) m=nil lockedm=nil"
)

// describe is everything that a scan gave, for comparison.
func describe(s *Scanner) string {
	var b strings.Builder
	s.scan(func(one *Sample) {
		sample := *one
		d := sample.Detail
		sample.Detail = nil
		fmt.Fprintf(&b, "%+v\n", sample)
		if d != nil {
			fmt.Fprintf(&b, "  %+v\n", *d)
		}
	})
	fmt.Fprintf(&b, "%+v %+v %v\n", s.counts, s.skipped, s.Err())
	return b.String()
}

func TestScan(t *testing.T) {
	for name, tc := range map[string]struct {
		log     string
		samples string // "ms:queues" by sample
		skipped int64
		other   int64 // lines
	}{
		"old form":                    {oldLine + "\n", "1000:[4 0 0 2]", 0, 0},
		"new form":                    {newLine + "\n", "1000:[1 2]", 0, 0},
		"no last newline":             {oldLine, "1000:[4 0 0 2]", 0, 0},
		"carriage returns":            {oldLine + "\r\n" + newLine + "\r\n", "1000:[4 0 0 2] 1000:[1 2]", 0, 0},
		"other lines":                 {"a\n\nb\n" + oldLine + "\nc", "1000:[4 0 0 2]", 0, 4},
		"a prefix":                    {"web-1  | " + oldLine + "\n", "1000:[4 0 0 2]", 0, 0},
		"in JSON":                     {`{"log":"` + oldLine + `\n","stream":"stderr"}` + "\n", "1000:[4 0 0 2]", 0, 0},
		"after half a line":           {"2026/01/02 handl" + oldLine + "\n", "1000:[4 0 0 2]", 0, 0},
		"before half a line":          {oldLine + "2026/01/02 handled\n", "1000:[4 0 0 2]", 0, 0},
		"two in a line":               {oldLine + newLine + "\n", "1000:[4 0 0 2] 1000:[1 2]", 0, 0},
		"a half and a whole":          {oldLine[:40] + newLine + "\n", "1000:[1 2]", 1, 0},
		"a mark, a half, a whole":     {"SCHED 5ms: SCHED " + oldLine[:60] + newLine + "\n", "1000:[1 2]", 2, 0},
		"cut off in a key":            {oldLine + "\n" + oldLine[:50], "1000:[4 0 0 2]", 1, 0},
		"cut off in the queues":       {oldLine[:len(oldLine)-1], "", 1, 0},
		"cut off in the ticks":        {newLine[:len(newLine)-5], "1000:[1 2]", 1, 0},
		"cut off before the ticks":    {newLine[:strings.Index(newLine, " sched")], "1000:[1 2]", 0, 0},
		"cut off in sysmonwait":       {detailLine[:len(detailLine)-2], "", 1, 0},
		"cut off in its time":         {oldLine + "\nSCHED 2939", "1000:[4 0 0 2]", 1, 0},
		"cut off before its colon":    {oldLine + "\nSCHED 2939ms", "1000:[4 0 0 2]", 1, 0},
		"cut off before its time":     {oldLine + "\n| SCHED ", "1000:[4 0 0 2]", 1, 0},
		"a word that is no mark":      {oldLine + "\nSCHED ms", "1000:[4 0 0 2]", 0, 1},
		"details cut off in a number": {strings.Join([]string{detailLine, procLine, "  G7"}, "\n"), "5:[6]", 1, 0},
		"details cut off in a status": {strings.Join([]string{detailLine, procLine, "  G70: stat"}, "\n"), "5:[6]", 1, 0},
		"details, and another end":    {strings.Join([]string{detailLine, procLine, "  Go on"}, "\n"), "5:[6]", 0, 1},
		"a G at the end of a log":     {oldLine + "\n  G7", "1000:[4 0 0 2]", 0, 1},
		"output within":               {"SCHED 1000ms: gomaxprocs=2026/01/02 handled\n4 idleprocs=1 threads=5\n", "", 1, 1},
		"output within the queues":    {"SCHED 1000ms: gomaxprocs=2 [ 1 5 things\n2 ]\n", "", 1, 1},
		"a key twice":                 {strings.Replace(oldLine, "runqueue", "threads", 1) + "\n", "", 1, 0},
		"two queues":                  {"SCHED 1ms: gomaxprocs=1 [0] [0]\n", "1:[0]", 1, 0},
		"no queue":                    {"SCHED 1000ms: gomaxprocs=4 idleprocs=1\n", "", 1, 0},
		"an empty queue":              {"SCHED 1ms: gomaxprocs=1 []\n", "1:[]", 0, 0},
		"a queue never closed":        {"SCHED 1ms: gomaxprocs=1 [" + strings.Repeat("1 ", 1000) + "\n" + oldLine + "\n", "1000:[4 0 0 2]", 1, 0},
		"a negative count":            {strings.Replace(oldLine, "threads=5", "threads=-5", 1) + "\n", "", 1, 0},
		"a negative queue":            {strings.Replace(oldLine, "[4", "[-4", 1) + "\n", "", 1, 0},
		"a count of 33 bits":          {strings.Replace(oldLine, "threads=5", "threads=4294967296", 1) + "\n", "", 1, 0},
		"a count of 200 digits":       {strings.Replace(oldLine, "threads=5", "threads="+strings.Repeat("9", 200), 1) + "\n", "", 1, 0},
		"a tick of 33 bits":           {strings.Replace(newLine, "4294967295", "4294967296", 1) + "\n", "1000:[1 2]", 1, 0},
		"a time of 200 digits":        {"SCHED " + strings.Repeat("9", 200) + "ms: gomaxprocs=1 [0]\n", "", 0, 1},
		"not quite a mark":            {"SCHED ms: SCHED 1s: SCHED 1m\nSCHEDULE 1ms: x\nSCHED -1ms: gomaxprocs=1 [0]\n", "", 0, 3},
		"NULs":                        {"\x00\x00SCHED\x00 1ms\n" + strings.Repeat("\x00", 100) + oldLine + "\x00\x00\n", "1000:[4 0 0 2]", 0, 1},
		"NULs within":                 {strings.Replace(oldLine, "threads=5", "threads=\x00", 1) + "\n", "", 1, 0},
		"empty":                       {"", "", 0, 0},
		"one newline":                 {"\n", "", 0, 1},
		"unknown keys":                {strings.Replace(newLine, " runqueue", " steals=12 tired=[ 1 2 ] mood=fine runqueue", 1) + "\n", "1000:[1 2]", 0, 0},
		"details":                     {strings.Join([]string{detailLine, procLine, thread, goroutine, ""}, "\n"), "5:[6]", 0, 0},
		"details, output within":      {strings.Join([]string{detailLine, "2026/01/02 handled", procLine, goroutine, ""}, "\n"), "5:[6]", 0, 1},
		"details behind a prefix":     {"| " + strings.Join([]string{detailLine, procLine, thread, goroutine, ""}, "\n| "), "5:[6]", 0, 1},
		"details cut off":             {strings.Join([]string{detailLine, procLine, goroutine[:30]}, "\n"), "5:[6]", 1, 0},
		"details, a P line broken":    {strings.Join([]string{detailLine, procLine[:30] + "xyz", strings.Replace(procLine, "P0", "P1", 1), ""}, "\n"), "5:[-1 6]", 1, 0},
		"details, a P line twice":     {strings.Join([]string{detailLine, procLine, procLine, ""}, "\n"), "5:[6]", 1, 0},
		"details, a P far away":       {strings.Join([]string{detailLine, strings.Replace(procLine, "P0", "P99999999999", 1), ""}, "\n"), "5:[]", 1, 0},
		"details cut by a new sample": {detailLine + "\n" + goroutine[:20] + oldLine + "\n" + goroutine + "\n", "5:[] 1000:[4 0 0 2]", 1, 1},
		"details without a sample":    {procLine + "\n" + goroutine + "\n" + oldLine + "\n" + thread + "\n", "1000:[4 0 0 2]", 0, 3},
		"details of a broken sample":  {detailLine + "\n" + procLine + "\n" + detailLine[:60] + "\n" + procLine + "\n", "5:[6]", 1, 1},
		"details, plain, details":     {detailLine + "\n" + oldLine + "\n" + detailLine + "\n" + procLine + "\n", "5:[] 1000:[4 0 0 2] 5:[6]", 0, 0},
	} {
		samples, sc := scanAll([]byte(tc.log))
		var got []string
		for _, s := range samples {
			got = append(got, fmt.Sprintf("%d:%v", s.Millis, s.LocalQueues))
		}
		if g := strings.Join(got, " "); g != tc.samples || sc.skipped.Count != tc.skipped || sc.counts.OtherLines != tc.other || sc.Err() != nil {
			t.Errorf("%s: samples %q, want %q; %+v, want %d; %+v, want %d other lines; %v", name, g, tc.samples, sc.skipped, tc.skipped, sc.counts, tc.other, sc.Err())
		}
		if c := sc.counts; c.Bytes != int64(len(tc.log)) || c.Samples != int64(len(samples)) || c.OtherBytes > c.Bytes {
			t.Errorf("%s: %+v of %d bytes", name, c, len(tc.log))
		}
		sc.scan(func(*Sample) { t.Errorf("%s: goes on after its end", name) })
		if split := describe(NewScanner(iotest.OneByteReader(strings.NewReader(tc.log)))); split != describe(NewScanner(strings.NewReader(tc.log))) {
			t.Errorf("%s: byte by byte it gives %s", name, split)
		}
	}
}

func TestScanValues(t *testing.T) {
	samples, _ := scanAll([]byte(strings.Join([]string{newLine, strings.Replace(oldLine, " spinningthreads=1", " steals=1", 1), detailLine, procLine, thread, goroutine, "  G3: status=4098() m=3 lockedm=nil", ""}, "\n")))
	s := samples[0]
	if s.Procs != 2 || s.Threads != 5 || s.GlobalQueue != 7 || s.SchedTicks[1] != 4294967295 || s.QueuedLocal() != 3 {
		t.Errorf("%+v", s)
	}
	s = samples[1]
	if s.SpinningThreads != absent || s.SchedTicks != nil {
		t.Errorf("%+v", s)
	}
	d := samples[2].Detail
	if d.OffProc != 1 || d.ByStatus[goroutineRunning] != 1 || d.Reasons["force gc (idle)"] != 1 {
		t.Errorf("%+v", d)
	}
}

func TestScanIsLive(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	samples := make(chan *Sample)
	go NewScanner(r).scan(func(one *Sample) { samples <- one.clone() })
	go io.WriteString(w, oldLine+"\n") // and no more
	if one := <-samples; one.Millis != 1000 {
		t.Error("a plain sample waits for what follows it")
	}
	go io.WriteString(w, detailLine+"\n"+procLine+"\n"+oldLine+"\n")
	if one, next := <-samples, <-samples; one.Detail == nil || next.Detail != nil {
		t.Error("a sample with details does not end with the next")
	}
}

func TestScanHugeLine(t *testing.T) {
	huge := strings.Repeat("x", 10<<20)
	list := "SCHED 7ms: gomaxprocs=1 [" + strings.Repeat("0 ", 5<<20)
	for name, tc := range map[string]struct {
		log     string
		samples int
		skipped int64
		lines   int64
	}{
		"other":         {huge + "\n" + oldLine + "\n", 1, 0, 2},
		"within":        {huge + oldLine + huge + newLine + huge, 2, 0, 1},
		"at its end":    {huge + oldLine + "\n" + oldLine + "\n", 2, 0, 2},
		"a list":        {list + "\n" + oldLine + "\n", 1, 1, 2},
		"after a list":  {list + oldLine + "\n", 1, 1, 1},
		"many lists":    {strings.Repeat("SCHED 1ms: a=[ ", 1<<20) + oldLine, 1, 1 << 20, 1},
		"many of marks": {strings.Repeat("SCHED 1ms: ", 1<<20) + oldLine, 1, 1 << 20, 1},
	} {
		samples, sc := scanAll([]byte(tc.log))
		c := sc.counts
		if len(samples) != tc.samples || sc.skipped.Count != tc.skipped || c.Lines != tc.lines || c.Bytes != int64(len(tc.log)) {
			t.Errorf("%s: %d samples, %d skipped, %+v", name, len(samples), sc.skipped.Count, c)
		}
	}
	// A mark that the end of the buffer cuts, at every place.
	for i := range 2 * len(oldLine) {
		log := strings.Repeat("x", 512-len(oldLine)+i) + oldLine + strings.Repeat("y", 300)
		s := newScanner(strings.NewReader(log), 256)
		if s.scan(func(*Sample) {}); s.counts.Samples != 1 || s.skipped.Count != 0 || s.counts.Bytes != int64(len(log)) {
			t.Errorf("at %d: %+v %+v", i, s.counts, s.skipped)
		}
	}
}

func TestScanError(t *testing.T) {
	broken := errors.New("disk on fire")
	s := NewScanner(io.MultiReader(strings.NewReader(oldLine+"\n"+newLine), iotest.ErrReader(broken)))
	if s.scan(func(*Sample) {}); s.counts.Samples != 2 || s.Err() != broken {
		t.Errorf("%+v, %v", s.counts, s.Err())
	}
	s = NewScanner(stuck{})
	if s.scan(func(*Sample) {}); s.counts.Samples != 0 || s.Err() != io.ErrNoProgress {
		t.Error(s.Err())
	}
}

type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

func TestSkipped(t *testing.T) {
	_, sc := scanAll([]byte(strings.Repeat("ok\nSCHED 1ms: gomaxprocs=x"+strings.Repeat("z", 500)+"\n", 100)))
	k := sc.skipped
	if k.Count != 100 || len(k.First) != maxProblems || k.First[1].Line != 4 || len(k.First[0].Text) > maxQuote+len("…") {
		t.Errorf("%d, %+v", k.Count, k.First)
	}
	if s := k.First[0].String(); !strings.HasPrefix(s, `line 2: "SCHED 1ms: gomaxprocs=xzz`) {
		t.Error(s)
	}
	if _, err := json.Marshal(k); err != nil {
		t.Error(err)
	}
}

// TestWaitReasons: a hostile log neither fills the memory nor reaches a terminal.
func TestWaitReasons(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(detailLine + "\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "  G1: status=4(reason %d) m=nil lockedm=nil\n", i)
	}
	b.WriteString("  G1: status=4(\x1b[2J) m=nil lockedm=nil\n  G1: status=4(" + strings.Repeat("x", 100) + ") m=nil lockedm=nil\n")
	samples, _ := scanAll(b.Bytes())
	if reasons := samples[0].Detail.Reasons; len(reasons) != maxNames+1 || reasons[otherReason] != 1002-maxNames {
		t.Errorf("%d reasons, %d others", len(reasons), reasons[otherReason])
	}
}
