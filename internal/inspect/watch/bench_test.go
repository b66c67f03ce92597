package watch

import (
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/observe"
)

// BenchmarkTake folds a snapshot of 2,000 processes in; BenchmarkView draws one.
func BenchmarkTake(b *testing.B) {
	m := newBench(b, 200, 60)
	m.world.procs = 2_000
	m.scans(2)
	snap := m.world.scan()
	for i := 0; b.Loop(); i++ {
		m.list.take(snap, time.Duration(i)*time.Second, observe.Identity{})
	}
}

func BenchmarkView(b *testing.B) {
	m := newBench(b, 200, 60)
	m.world.procs = 2_000
	m.scans(2)
	b.Run("table", func(b *testing.B) {
		for b.Loop() {
			m.View()
		}
	})
	m.scans(600)
	m.options.Explain = func(observe.Process) string { return strings.Repeat("a long line \xff ", 100_000) }
	m.press("enter")
	b.Run("detail", func(b *testing.B) {
		for b.Loop() {
			m.View()
		}
	})
}
