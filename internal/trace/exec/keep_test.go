package exec

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
)

func ended(id, ran int64) *goroutine {
	return &goroutine{Goroutine: Goroutine{ID: id, Running: time.Duration(ran), Spans: 1, order: id}}
}

func TestTheLongestOfAMillionAreKept(t *testing.T) {
	const all, kept = 1_000_000, 100
	b := newBuilder(Options{MaxGoroutines: kept}.withDefaults())
	most := 0
	for id := int64(1); id <= all; id++ {
		g := ended(id, id%1000)
		switch {
		case id%100_000 == 0:
			g.Running = time.Second
		case id%100_000 == 1:
			g.Runtime = true
		}
		b.keep(g)
		most = max(most, len(b.trace.Goroutines))
	}
	tr := b.finish()
	if most > 2*kept || len(tr.Goroutines) != kept {
		t.Errorf("%d kept, %d at a time", len(tr.Goroutines), most)
	}
	long, listed := 0, Tally{}
	for i, g := range tr.Goroutines {
		if g.Running == time.Second {
			long++
		} else if g.Running != 999 && !g.IsMain() {
			t.Errorf("%+v is kept", g)
		}
		if i > 0 && g.order < tr.Goroutines[i-1].order {
			t.Errorf("G %d before G %d", tr.Goroutines[i-1].ID, g.ID)
		}
		if !g.Runtime {
			listed.Add(g)
		}
	}
	if long != all/100_000 || !tr.Goroutines[0].IsMain() {
		t.Errorf("%d that ran a second, the first is G %d", long, tr.Goroutines[0].ID)
	}
	if n := listed.Goroutines + tr.Dropped.Goroutines + tr.Runtime.Goroutines; n != all {
		t.Errorf("%d goroutines of %d: %+v listed, %+v dropped, %+v the runtime's", n, all, listed, tr.Dropped, tr.Runtime)
	}
}

func TestDroppedAreSummedUp(t *testing.T) {
	read := func(o Options) (*Trace, Tally) {
		tr := must.Get(Read(bytes.NewReader(load(t, "testdata/go1.27.1.trace")), o))(t)
		sum := tr.Dropped
		for _, g := range tr.Goroutines {
			if !g.Runtime {
				sum.Add(g)
			}
		}
		return tr, sum
	}
	whole, all := read(Options{})
	few, sum := read(Options{MaxGoroutines: 4})
	if sum != all || few.Runtime != whole.Runtime || whole.Runtime.Running == 0 || whole.Dropped != (Tally{}) || few.Dropped.Running == 0 {
		t.Errorf("%+v of %+v; dropped %+v and %+v, the runtime's %+v and %+v", sum, all, few.Dropped, whole.Dropped, few.Runtime, whole.Runtime)
	}
	for i, s := range few.Spans {
		if s != whole.Spans[i] {
			t.Errorf("span %+v of %+v", s, whole.Spans[i])
		}
	}
}

func TestNoneIsNotNull(t *testing.T) {
	file := load(t, "testdata/go1.27.1.trace")
	for _, in := range [][]byte{file, file[:16]} {
		tr, _ := Read(bytes.NewReader(in), Options{})
		out, err := json.Marshal(tr)
		if err != nil || bytes.Contains(out, []byte(`null`)) {
			t.Errorf("%v: %s", err, out)
		}
	}
}
