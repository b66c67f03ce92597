//go:build !portable

package supervisor

import (
	"bytes"
	"encoding/gob"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/test/must"
)

// A command runs from its exec on, also where the supervisor notices that late: else a short
// one has used more CPU time than its CPUs can give.
func TestCommandRunsFromItsExec(t *testing.T) {
	const late = 300 * time.Millisecond
	var reports bytes.Buffer
	must.OK(t, gob.NewEncoder(&reports).Encode(report{At: procstat.Monotonic() - late}))
	var s supervisor
	must.OK(t, s.awaitExec(gob.NewDecoder(&reports)))
	if since := time.Since(s.started); since < late || since > late+10*time.Second {
		t.Errorf("it runs for %v, want %v", since, late)
	}
}
