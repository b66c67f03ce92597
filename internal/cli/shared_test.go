package cli

import (
	"runtime/debug"
	"testing"
)

// TestShared: two commands of one process want the collector bounded, and the first to end
// is not the last to have begun. After both, it is as it was.
func TestShared(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	limit := func() int64 { return debug.SetMemoryLimit(-1) }
	before := limit()
	first, second := boundMemory(), boundMemory()
	first()
	first()
	if limit() != clusterMemory {
		t.Errorf("with one command left the limit is %d, want %d", limit(), clusterMemory)
	}
	second()
	if limit() != before {
		t.Errorf("after both the limit is %d, want %d", limit(), before)
	}
}
