package watch

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/program/observe"
)

func TestHistoryIsBounded(t *testing.T) {
	w := &world{scans: 1}
	p := w.process(1, "x", 4, nil)
	for _, n := range []int{1, 2_000, 10_000, 1_000_000} {
		var h history
		for i := range 5_000 {
			h.add(p, time.Duration(i)*time.Second, room(n))
		}
		if len(h.points) < room(n) || cap(h.points) > room(n)*3/2 || h.last()[len(h.last())-1].at != 4_999 || h.total != 5_000 {
			t.Errorf("%d processes: %d points, room for %d", n, len(h.points), cap(h.points))
		}
		if bytes := n * cap(h.points) * 24; n <= 2_000 && bytes > 50<<20 {
			t.Errorf("%d processes: %d MB", n, bytes>>20)
		}
	}
}

// TestRows are bounded too: what ended goes.
func TestRows(t *testing.T) {
	l := list{rows: map[observe.Identity]*row{}}
	for i := range 100 {
		w := &world{scans: 1}
		var snap observe.Snapshot
		for j := range 20 {
			snap.Processes = append(snap.Processes, w.process(1+i*20+j, "short-lived", 1, nil))
		}
		l.take(snap, time.Duration(i)*time.Second, observe.Identity{})
		if len(l.rows) > 20*(lingers+1) || len(l.shown) != len(l.rows) {
			t.Fatalf("%d rows", len(l.rows))
		}
	}
}

func TestCurve(t *testing.T) {
	var h history
	add := func(values ...float64) {
		for _, v := range values {
			pt := point{}
			pt.values[ofWait] = float32(v)
			h.points = append(h.points, pt)
			h.total++
		}
	}
	nan := math.NaN()
	add(0, 1, nan, 8, 0.001)
	c := newCurve(&h, ofWait, 7)
	if got := (look{}).draw(c, 7, 1)[0]; got != "  ▁▂ █▂" {
		t.Errorf("%q", got)
	}
	if got := (look{ascii: true}).draw(c, 5, 2); got[0] != "   # " || got[1] != "_, #." {
		t.Errorf("%q", got)
	}
	if c.min != 0 || c.max != 8 || math.Abs(c.now-0.001) > 1e-6 || c.perCell != 1 {
		t.Errorf("%+v", c)
	}
	// The highest of a cell stays, however many it holds, and so does its place.
	h = history{}
	for i := range 400 {
		add(float64(i % 3))
		if i == 100 {
			add(50)
		}
		c := newCurve(&h, ofWait, 40)
		peaks := 0
		for _, v := range c.cells {
			if v == 50 {
				peaks++
			}
		}
		if len(c.cells) > 40 || i >= 100 && peaks != 1 {
			t.Fatalf("after %d: %d cells, %d peaks, %d a cell", i, len(c.cells), peaks, c.perCell)
		}
	}
	if c := newCurve(&history{}, ofWait, 10); c.known() || len(c.cells) > 0 {
		t.Errorf("%+v", c)
	}
	h = history{}
	add(nan, nan)
	if c := newCurve(&h, ofWait, 10); c.known() {
		t.Errorf("%+v", c)
	}
	h = history{}
	add(0, 0)
	if got := (look{}).draw(newCurve(&h, ofWait, 3), 3, 1)[0]; got != " ▁▁" {
		t.Errorf("%q", got)
	}
}

func TestNumbers(t *testing.T) {
	l := look{}
	for _, c := range []struct{ got, want string }{
		{l.span(1.5e-6), "1.50 µs"}, {l.span(0.0123), "12.3 ms"}, {look{ascii: true}.span(64e-6), "64.0 us"},
		{l.clipLeft("abcdef", 4), "…def"}, {l.clipLeft("abc", 4), "abc"}, {l.clip("日本語", 5), "日本…"}, {l.clip("日本語", 4), "日…"},
		{strings.Join(l.wrap("  one two three", 11, 1), "|"), "  one two|   three"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if s := l.clean(strings.Repeat("é", maxText)); !utf8.ValidString(s) {
		t.Error("cut within a character")
	}
}
