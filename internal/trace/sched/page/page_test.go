package page

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/trace/sched"
	"github.com/procfit/procfit/test/must"
)

func of(log string) *document.Document {
	s := analyse(strings.NewReader(log))
	return Brief("a\x1b]0;x\a", s, sched.Readings(s))
}

// first is the document's first block of that type, empty without any.
func first[T any](d *document.Document) (out T) {
	for _, b := range d.Blocks {
		if one, ok := b.(T); ok {
			return one
		}
	}
	return out
}

func traced(ms, procs, idle int, queues string) string {
	return fmt.Sprintf("SCHED %dms: gomaxprocs=%d idleprocs=%d threads=9 spinningthreads=0 idlethreads=0 runqueue=0 [%s]\n", ms, procs, idle, queues)
}

func repeat(n int, line func(int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
	}
	return b.String()
}

func TestHeadlines(t *testing.T) {
	busy := func(i int) string { return traced(i*1000, 4, 0, "5 5 5 5") }
	for name, tc := range map[string]struct{ log, label, sentence string }{
		"nothing":     {"", "Nothing to read", "No sample in 0 lines."},
		"few":         {repeat(4, busy), "Too few samples", "Only 3 samples"},
		"busy":        {repeat(21, busy), "CPU-bound", "All 4 Ps busy in 100% of 20 samples"},
		"mixed":       {repeat(21, func(i int) string { return traced(i*1000, 4, i%2*4, "0 0 0 0") }), "Mixed", "2 of 4 Ps busy on average, all of them in 50% of 20 samples and none in 50%"},
		"interleaved": {repeat(20, func(i int) string { return traced(i*1000, 4, 0, "5 5 5 5") + traced(i*1000, 4, 0, "5 5 5 5") }), "Several processes", "Several processes write to this log at the same time: line 4 is the first"},
		"all idle":    {repeat(21, func(i int) string { return traced(i*1000, 8, 8, "0 0 0 0 0 0 0 0") }), "Almost no P is busy", "All 8 Ps idle in 100%"},
		"in C":        {repeat(21, func(i int) string { return traced(i*1000, 4, 4, "0 0 0 0") }), "Threads without a P", "9 threads on average"},
		"late":        {repeat(21, func(i int) string { return traced(i*1000, 4, 4, "0 0 0 0") }) + traced(60_000, 4, 4, "0 0 0 0"), "Samples late", "No sample for 40 s"},
	} {
		if h := first[document.Panel](of(tc.log)); h.Label != tc.label || !strings.HasPrefix(h.Sentence, tc.sentence) {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

// The headline's reading is not said again, and all others are.
func TestReadingsAreSaidOnce(t *testing.T) {
	log := repeat(21, func(i int) string { return traced(i*1000, 4, 0, "50 0 0 0") }) + "SCHED 99ms: gom"
	d := of(log)
	headline, readings, unread := first[document.Panel](d), first[document.Notes](d), first[document.List](d).Items
	if headline.Label != "CPU-bound" || len(readings) != 2 || len(unread) != 1 {
		t.Errorf("%+v, %+v, %q", headline, readings, unread)
	}
	for _, r := range readings {
		if r.Message == headline.Sentence {
			t.Errorf("said twice: %s", r.Message)
		}
	}
}

// TestUnreadLines: a terminal gets the first of them, and where the others are.
func TestUnreadLines(t *testing.T) {
	for n, want := range map[int]string{5: "", 10: "and 5 more; --json lists the first 10", 30: "and 25 more; --json lists the first 20"} {
		s := analyse(strings.NewReader(repeat(n, func(int) string { return "SCHED 99ms: gom\n" })))
		var b strings.Builder
		must.OK(t, text.Render(&b, Brief("x", s, sched.Readings(s)), text.Options{}))
		if got := b.String(); !strings.Contains(got, want) || want == "" && strings.Contains(got, "--json lists") {
			t.Errorf("%d lines: no %q in\n%s", n, want, got)
		}
	}
}

// check holds every position and text to what renderers rely on.
func check(t *testing.T, name string, d *document.Document) {
	t.Helper()
	inside := func(what string, x float64) {
		if !(x >= 0 && x <= 1) {
			t.Errorf("%s: %s at %g", name, what, x)
		}
	}
	shown := func(s string) {
		if strings.Contains(s, "%!") || strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
			t.Errorf("%s: text %q", name, s)
		}
	}
	headline := first[document.Panel](d)
	shown(d.Title)
	shown(headline.Sentence)
	for _, b := range slices.Concat(d.Blocks, headline.Blocks) {
		switch b := b.(type) {
		case document.Text:
			shown(b.Text)
		case document.List:
			for _, i := range b.Items {
				shown(i.String())
			}
		case document.Table:
			for _, r := range b.Rows {
				for _, c := range r.Cells {
					inside("bar", c.Bar)
					shown(c.Value)
				}
			}
		}
	}
}

func TestRealLogs(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.log")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		log := must.Get(os.ReadFile(file))(t)
		check(t, file, of(string(log)))
	}
}

func TestOddLogs(t *testing.T) {
	for name, log := range map[string]string{
		"one sample":        traced(500, 4, 0, "5 5 5 5"),
		"at one time":       repeat(20, func(int) string { return traced(7, 4, 0, "5 5 5 5") }),
		"a late begin":      repeat(20, func(i int) string { return traced(3_600_000+i*50, 4, i%3, "5 5 5 5") }),
		"ever more Ps":      repeat(20, func(i int) string { return traced(i*100, i+1, 0, strings.Repeat("3 ", i+1)) }),
		"many Ps":           repeat(20, func(i int) string { return traced(i*100, 300, 0, strings.Repeat("3 0 ", 150)) }),
		"no queues":         repeat(20, func(i int) string { return traced(i*100, 2, 2, "0 0") }),
		"two processes":     repeat(15, func(i int) string { return traced(i*100, 2, 2, "0 0") }) + repeat(25, func(i int) string { return traced(i*100, 4, 0, "1 2 3 4") }),
		"a gap":             repeat(15, func(i int) string { return traced(i*100, 2, 2, "0 0") }) + traced(90_000, 2, 0, "1 1"),
		"long":              repeat(3000, func(i int) string { return traced(i*10, 4, i%5, "1 2 3 4") }),
		"the largest times": "SCHED 9223372036854ms: gomaxprocs=2 idleprocs=0 threads=4 runqueue=1 [0 1]\nSCHED 9223372036854ms: gomaxprocs=2147483647 idleprocs=0 threads=4 runqueue=1 [0 1]\n",
		"hostile":           "SCHED 1ms: gomaxp\x1b[31m\x00\xff=2\n" + repeat(20, func(i int) string { return traced(i*100, 2, 0, "1 1") }),
	} {
		d := of(log)
		check(t, name, d)
		for _, b := range d.Blocks {
			if rows, ok := b.(document.Table); ok && rows.Columns[0].Head == "P" && len(rows.Rows) > briefProcs {
				t.Errorf("%s: %d rows, want at most %d", name, len(rows.Rows), briefProcs)
			}
		}
	}
}

// Of queues that nobody read there is no share.
func TestIdleWhileGoroutinesWait(t *testing.T) {
	for queues, want := range map[string]string{
		"[1 1]": "100% of 20 samples", "[0 0]": "0% of 20 samples",
		"gcwaiting=false nmidlelocked=0 stopwait=0 sysmonwait=false": "",
	} {
		got := ""
		for _, f := range first[document.Pairs](of(repeat(21, func(i int) string {
			return fmt.Sprintf("SCHED %dms: gomaxprocs=2 idleprocs=1 threads=9 idlethreads=0 runqueue=0 %s\n", i*1000, queues)
		}))) {
			if f.Name == "Idle Ps while goroutines wait" {
				got = f.Value
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", queues, got, want)
		}
	}
}

// A warning is not led by what is none: 9 wait for a lock, and no P is busy.
func TestAWarningLeads(t *testing.T) {
	headline := first[document.Panel](of(repeat(21, func(i int) string {
		return fmt.Sprintf("SCHED %dms: gomaxprocs=2 idleprocs=2 threads=5 spinningthreads=0 needspinning=0 idlethreads=3 runqueue=0 gcwaiting=false nmidlelocked=0 stopwait=0 sysmonwait=false\n", i*1000) +
			strings.Repeat("  G9: status=4(sync.Mutex.Lock) m=nil lockedm=nil\n", 9)
	})))
	if headline.Label != "Waits for locks" || headline.Tone != document.Attention {
		t.Errorf("%+v", headline)
	}
}

// A gap does not make the usual interval longer.
func TestContext(t *testing.T) {
	log := repeat(60, func(i int) string { return traced(i*1000, 2, 2, "0 0") }) + traced(3_659_000, 2, 2, "0 0")
	must.Say(t, context(analyse(strings.NewReader(log))), "60 samples over 60 min 59 s, one every 1 s")
	s := analyse(strings.NewReader(log + log[:len(log)/2]))
	s.Run.LeftOut = 3
	if c := context(s); !strings.HasPrefix(c, "one of 2 processes · ") || !strings.HasSuffix(c, "; 3 samples at its shutdown not counted") {
		t.Error(c)
	}
}
