package cluster

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A build that takes long says how far it is, and not for each package.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		p := &progress{out: &said, every: 30 * time.Second, began: time.Now(), total: 100}
		for range 40 {
			p.Write([]byte("a/b\nc"))
			p.Write([]byte("/d\n"))
			time.Sleep(2 * time.Second)
		}
		if want := "31 of at most 100 packages compiled after 30s\n61 of at most 100 packages compiled after 1m0s\n"; said.String() != want {
			t.Errorf("said %q, want %q", said.String(), want)
		}
	})
}
