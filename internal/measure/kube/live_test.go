package kube

import (
	"errors"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/measure/kube/agent"
)

// TestLostConnectionOfLive: who loses the connection reads what becomes of the value.
func TestLostConnectionOfLive(t *testing.T) {
	l := &Live{Pod: "api-0"}
	lost := &agent.LostError{Err: errors.New("the agent did not answer for 1m30s")}
	const back = "gets its value back by itself, within a minute of the last answer"
	for name, c := range map[string]struct {
		err  error
		gone bool
		back bool
	}{"lost": {lost, false, true}, "the pod is gone": {lost, true, false}, "refused": {&agent.RefusedError{Reason: "no"}, false, false}} {
		if err := l.triedIn(c.err, c.gone); strings.Contains(err.Error(), back) != c.back || !strings.Contains(err.Error(), "api-0") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := l.triedIn(nil, false); err != nil {
		t.Error(err)
	}
}
