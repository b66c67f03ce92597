//go:build !portable

package supervisor

import (
	"bytes"
	"encoding/gob"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
)

// A command runs from its exec on, also where the supervisor notices that late: else a short
// one has used more CPU time than its CPUs can give.
func TestCommandRunsFromItsExec(t *testing.T) {
	const late = 300 * time.Millisecond
	var reports bytes.Buffer
	if err := gob.NewEncoder(&reports).Encode(report{At: procstat.Monotonic() - late}); err != nil {
		t.Fatal(err)
	}
	var s supervisor
	if err := s.awaitExec(gob.NewDecoder(&reports)); err != nil {
		t.Fatal(err)
	}
	if since := time.Since(s.started); since < late || since > late+10*time.Second {
		t.Errorf("it runs for %v, want %v", since, late)
	}
}
