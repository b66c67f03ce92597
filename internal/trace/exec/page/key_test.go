package page

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/trace/exec"
)

var (
	spanClass = regexp.MustCompile(`(?s)<g class="point (\w+)" .*?<text class="readout" [^>]*>([^<]*)`)
	keyEntry  = regexp.MustCompile(`(?s)<g class="key (\w+)">.*?<text [^>]*>([^<]*)`)
	colorOf   = regexp.MustCompile(`\.(c\d+) \{ color: (#\w+); \}`)
)

// crowd is a trace of main, a worker that runs nearly all the time, one of the
// runtime's own, and n others of which each runs as long as given.
func crowd(n int, each time.Duration) *exec.Trace {
	tr := &exec.Trace{Procs: []exec.Proc{{}}}
	add := func(g exec.Goroutine) {
		g.Spans = 1
		tr.Goroutines = append(tr.Goroutines, g)
		tr.Spans = append(tr.Spans, exec.Span{Goroutine: g.ID, Start: tr.Duration, End: tr.Duration + g.Running, Runtime: g.Runtime})
		tr.Duration += g.Running
		tr.SpanCount++
	}
	add(exec.Goroutine{ID: 1, Name: "main.main", Running: 10 * time.Millisecond})
	add(exec.Goroutine{ID: 2, Name: "runtime.bgsweep", Runtime: true, Running: 20 * time.Millisecond})
	for i := range n {
		add(exec.Goroutine{ID: int64(i + 4), Name: "main.tiny", Running: each})
	}
	add(exec.Goroutine{ID: 3, Name: "main.worker", Running: time.Second})
	return tr
}

func TestTheKeyExplainsTheColours(t *testing.T) {
	for name, c := range map[string]struct {
		n    int
		each time.Duration
		key  int
	}{
		"few": {5, 10 * time.Millisecond, 2 + 5 + 1}, "many": {70, 10 * time.Millisecond, document.Distinct + 2},
		"tiny": {500, time.Microsecond, 2 + 2},
	} {
		drawing := string(picture(t, crowd(c.n, c.each)))
		color, used := map[string]string{}, map[string]bool{}
		for _, m := range colorOf.FindAllStringSubmatch(drawing, -1) {
			if used[m[2]] {
				t.Errorf("%s: %s twice", name, m[2])
			}
			color[m[1]], used[m[2]] = m[2], true
		}
		key := map[string]string{}
		for _, m := range keyEntry.FindAllStringSubmatch(drawing, -1) {
			if key[m[1]] != "" || !strings.HasPrefix(m[1], "aside") && color[m[1]] == "" {
				t.Errorf("%s: class %s in the key twice, or no colour", name, m[1])
			}
			key[m[1]] = m[2]
		}
		drawn := map[string]bool{}
		for _, m := range spanClass.FindAllStringSubmatch(drawing, -1) {
			drawn[m[1]] = true
			switch entry := key[m[1]]; {
			case entry == "":
				t.Errorf("%s: class %s of %q is not in the key", name, m[1], m[2])
			case strings.HasPrefix(m[2], "runtime.") != (entry == "the runtime&#39;s own"), m[1][0] == 'c' && !strings.HasPrefix(m[2], entry):
				t.Errorf("%s: %q is %q in the key", name, m[2], entry)
			}
		}
		if len(key) != c.key || len(drawn) != len(key) {
			t.Errorf("%s: %d entries in the key, %d colours drawn: %v", name, len(key), len(drawn), key)
		}
		if !strings.Contains(drawing, "main.worker (G 3)</text>") || !strings.Contains(drawing, "main.main (G 1)</text>") {
			t.Errorf("%s: main or the worker is not in the key", name)
		}
	}
}

func TestTheKeyKeepsTheNumber(t *testing.T) {
	if got := keyName(exec.Goroutine{ID: 1250144, Name: "sync.(*WaitGroup).Done"}); got != "sync.(*WaitGr… (G 1250144)" {
		t.Error(got)
	}
}

func TestOthersAreCounted(t *testing.T) {
	tr := crowd(70, 10*time.Millisecond)
	tr.Dropped = exec.Tally{Goroutines: 1_000_000}
	if drawing := string(picture(t, tr)); !strings.Contains(drawing, ">others: 1000054<") {
		t.Error(keyEntry.FindAllString(drawing, -1))
	}
}
