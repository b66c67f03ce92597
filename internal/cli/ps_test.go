package cli

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/inspect/ps"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
)

// A process that was named and cannot be read is a failure, though it is listed.
func TestUnreadablePID(t *testing.T) {
	snap := observe.Snapshot{
		Processes:  []observe.Process{{Subject: rule.Subject{Observed: rule.Observed{Place: rule.Place{PID: 7}}}}},
		Unreadable: []observe.Unreadable{{PID: 7, Reason: "process 7: permission denied: /proc/7/exe; run with CAP_SYS_PTRACE"}},
	}
	named := psOptions{selected: ps.Selection{PIDs: []int{7}}}
	if err := named.tell(stdio{}, snap); err == nil || !strings.Contains(err.Error(), "run with CAP_SYS_PTRACE") {
		t.Errorf("%v: expected the reason and what to do", err)
	}
	var notes strings.Builder
	if err := new(psOptions).tell(stdio{err: &notes}, snap); err != nil || !strings.Contains(notes.String(), "1 process could not be read") {
		t.Errorf("%v, %q: in a list of all processes it is a note", err, notes.String())
	}
	notes.Reset()
	quiet := psOptions{out: printing{quiet: true}}
	if err := quiet.tell(stdio{err: &notes}, snap); err != nil || notes.Len() > 0 {
		t.Errorf("%v, %q: no notes with --quiet", err, notes.String())
	}
	quiet.selected.PIDs = []int{8, 9} // all errors but the last are printed all the same
	if err := quiet.tell(stdio{err: &notes}, snap); err == nil || !strings.Contains(notes.String(), "process 8: no such process") {
		t.Errorf("%v, %q", err, notes.String())
	}
}
