package page

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/trace/exec"
	"github.com/procfit/procfit/test/must"
)

func read(t *testing.T, version string, o exec.Options) *exec.Trace {
	t.Helper()
	f := must.Get(os.Open("../testdata/go" + version + ".trace"))(t)
	defer f.Close()
	return must.Get(exec.Read(f, o))(t)
}

func render(t *testing.T, tr *exec.Trace, rows int, o text.Options) string {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, text.Render(&b, brief("x", tr, rows), o))
	return b.String()
}

func TestGolden(t *testing.T) {
	documenttest.Golden(t, "go1.27.1.txt", []byte(render(t, read(t, "1.27.1", exec.Options{}), 40, text.Options{})))
	documenttest.Golden(t, "go1.21.13.txt", []byte(render(t, read(t, "1.21.13", exec.Options{}), 40, text.Options{})))
	documenttest.Golden(t, "capped.txt", []byte(render(t, read(t, "1.27.1", exec.Options{MaxSpans: 12, MaxGoroutines: 5, MaxSteals: 3}), 2, text.Options{})))
	documenttest.Golden(t, "empty.txt", []byte(render(t, &exec.Trace{}, 40, text.Options{})))
}

func TestHeadline(t *testing.T) {
	for stolen, want := range map[int64]string{1: "1 of 3 starts was on a different P ", 2: "2 of 3 starts were on a different P "} {
		if got := headline(&exec.Trace{Starts: exec.Starts{Own: 3 - stolen, Stolen: stolen}}).Sentence; !strings.HasPrefix(got, want) {
			t.Error(got)
		}
	}
}

func TestLinesFitTheTerminal(t *testing.T) {
	for _, version := range []string{"1.21.13", "1.27.1"} {
		tr := read(t, version, exec.Options{})
		for _, width := range []int{60, 70, 80, 100, 120} {
			for i, line := range strings.Split(render(t, tr, 40, text.Options{Width: width}), "\n") {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("Go %s, width %d, line %d has %d columns: %s", version, width, i+1, n, line)
				}
			}
		}
	}
}

// many is a trace of two Ps: main, a goroutine of the runtime's own, and n others
// that ran 1 ms, 2 ms and so on.
func many(n int) *exec.Trace {
	tr := &exec.Trace{Procs: []exec.Proc{{ID: 0}, {ID: 1}}}
	add := func(g exec.Goroutine) {
		g.Spans = 1
		tr.Goroutines = append(tr.Goroutines, g)
		end := tr.Duration + g.Running
		tr.Spans = append(tr.Spans, exec.Span{Goroutine: g.ID, Proc: len(tr.Spans) % 2, Start: tr.Duration, End: end, Runtime: g.Runtime})
		tr.Duration = end
		tr.SpanCount++
		tr.GoroutineCount++
	}
	add(exec.Goroutine{ID: 1, Name: "main.main", Running: time.Microsecond})
	add(exec.Goroutine{ID: 2, Name: "runtime.gcBgMarkWorker", Runtime: true, Running: 5 * time.Millisecond})
	for i := range n {
		add(exec.Goroutine{ID: int64(i + 3), Name: "main.work", Running: time.Duration(i+1) * time.Millisecond})
	}
	return tr
}

var (
	timelineRow = regexp.MustCompile(`(?m)^  P \d+ ([a-zA-Z*#·]+)$`)
	tableRow    = regexp.MustCompile(`(?m)^  ([a-zA-Z*#·])  \S.* \d+  (?:P \d|ran already)`)
)

func TestEveryLetterIsExplained(t *testing.T) {
	traces := map[string]*exec.Trace{
		"30": many(30), "70": many(70), "500": many(500),
		"go1.27.1": read(t, "1.27.1", exec.Options{MaxGoroutines: 5}),
	}
	for name, tr := range traces {
		for _, rows := range []int{40, 2, 1000} {
			out := render(t, tr, rows, text.Options{Width: 120})
			explained := "·#*"
			for _, m := range tableRow.FindAllStringSubmatch(out, -1) {
				if strings.Contains(explained, m[1]) {
					t.Errorf("%s, %d rows: %s has two rows", name, rows, m[1])
				}
				explained += m[1]
			}
			if len(explained) == len("·#*") {
				t.Errorf("%s, %d rows: no letter in\n%s", name, rows, out)
			}
			for _, m := range timelineRow.FindAllStringSubmatch(out, -1) {
				for _, sign := range m[1] {
					if !strings.ContainsRune(explained, sign) {
						t.Errorf("%s, %d rows: %c is in the timeline only", name, rows, sign)
					}
				}
			}
		}
	}
}

// TestNothingStolen: if no start was stolen, the list has all of them, and not the others.
func TestNothingStolen(t *testing.T) {
	out := render(t, &exec.Trace{Starts: exec.Starts{Own: 3, Global: 2}}, 40, text.Options{})
	if want := "NOTHING STOLEN\nNone of 5 starts was proven to be stolen.\n  Of these: 3 on the P where it became ready; 2 from the global queue"; !strings.HasPrefix(out, want) {
		t.Errorf("%s\nwant\n%s", out, want)
	}
}

func TestTheRestIsSummedUp(t *testing.T) {
	out := render(t, many(70), 40, text.Options{})
	must.Say(t, out, "GOROUTINES\nmain and those that ran longest\n", "a  main.main ", "N  main.work ", "\nand 31 more goroutines, which ran 496 ms in all\n", "* others")
	if out := render(t, many(5), 40, text.Options{}); !strings.Contains(out, "# the runtime's own") || strings.Contains(out, "others") {
		t.Errorf("no sign of the runtime's own in\n%s", out)
	}
	// One that ran long among many that hardly ran.
	tr := many(70)
	tr.Goroutines[50].Running = time.Hour
	tr.Dropped = exec.Tally{Goroutines: 1_000_000, Running: time.Second}
	out = render(t, tr, 40, text.Options{})
	if rows := len(tableRow.FindAllString(out, -1)); rows != 2 || !strings.Contains(out, "\nand 1000069 more goroutines, which ran 3.44 s in all\n") {
		t.Errorf("%d rows in\n%s", rows, out)
	}
}
