package automemlimit

import (
	"errors"
	"strconv"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/procfit/procfit/maxprocs/facts"
)

// TestHere: both say the same of this process.
func TestHere(t *testing.T) {
	m := facts.ReadMemory()
	got := "none"
	if l, ok := m.Tightest(); ok {
		got = strconv.FormatInt(l.Bytes, 10)
	}
	want := "none"
	switch limit, err := memlimit.FromCgroup(); {
	case err == nil:
		want = strconv.FormatUint(limit, 10)
	case !errors.Is(err, memlimit.ErrNoLimit):
		t.Skipf("automemlimit finds nothing here: %v", err)
	}
	if got != want {
		t.Errorf("%s, theirs %s\n%+v", got, want, m.Limits)
	}
}

// BenchmarkRead is one look each.
func BenchmarkRead(b *testing.B) {
	b.Run("automemlimit", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			memlimit.FromCgroup()
		}
	})
	b.Run("procfit", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			facts.ReadMemory()
		}
	})
}
