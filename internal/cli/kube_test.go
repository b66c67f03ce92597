package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/measure/paired"
	judge "github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// TestTyped: Ctrl-C ends the wait for an answer that nobody types.
func TestTyped(t *testing.T) {
	for in, want := range map[string]string{"y\n": "y\n", "yes\nno\n": "yes\n", "y": "", "": ""} {
		if got := typed(t.Context(), strings.NewReader(in)); got != want {
			t.Errorf("of %q: %q, want %q", in, got, want)
		}
	}
	in, keys := io.Pipe()
	defer keys.Close()
	late := time.AfterFunc(10*time.Second, func() { io.WriteString(keys, "y\n") })
	defer late.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if got := typed(ctx, in); got != "" {
		t.Errorf("%q, and the signal was ignored", got)
	}
}

// TestAsk: an answer other than yes is a failure, since nothing was done; Ctrl-C alone is an
// interruption.
func TestAsk(t *testing.T) {
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		ctx  context.Context
		text string
		code int
	}{{t.Context(), "y\n", 0}, {t.Context(), "Yes\n", 0}, {t.Context(), "n\n", exitFailure}, {t.Context(), "\n", exitFailure}, {t.Context(), "", exitFailure}, {interrupted, "", exitInterrupted}} {
		err := askUser(tc.ctx, newStdio(tc.ctx, strings.NewReader(tc.text), io.Discard, io.Discard, nil), "create them?", "nothing was created")
		code := 0
		if coded := (*exitError)(nil); errors.As(err, &coded) {
			code = coded.code
		} else if err != nil {
			code = exitFailure
		}
		if code != tc.code || err != nil && err.Error() != "nothing was created" {
			t.Errorf("%q: exit code %d, %v; want %d", tc.text, code, err, tc.code)
		}
	}
}

// TestCanaryLeft: the time that is left has the warm-ups of the rounds that come.
func TestCanaryLeft(t *testing.T) {
	round := []journal.Setting{judge.SettingOf(nil), judge.SettingOf(new(1))}
	h := judge.Header{Header: journal.Header{
		Load: journal.Load{DurationSeconds: 180, WarmupSeconds: 600}, Canary: &journal.Canary{SliceSeconds: 60, Rounds: [][]journal.Setting{round, round}},
	}}
	var shown strings.Builder
	p := &canaryProgress{std: newStdio(t.Context(), nil, nil, &shown, nil), header: h, began: time.Now()}
	for i := range 6 {
		p.tell(paired.Event{Kind: paired.EventSlice, Block: i})
	}
	must.Say(t, shown.String(), "[1/6] this slice has no values, elapsed 0:00, 15:00 left", "[3/6] this slice has no values, elapsed 0:00, 13:00 left", "[4/6] this slice has no values, elapsed 0:00, 2:00 left", "[6/6] this slice has no values, elapsed 0:00, 0:00 left")
}

// TestCanaryLife: slices that each take half a second longer than they are do not outlast their pods.
func TestCanaryLife(t *testing.T) {
	for slice, length := range map[time.Duration]time.Duration{time.Minute: 24 * time.Hour, time.Second: 2 * time.Hour} {
		h := judge.NewHeader(slice, length, time.Minute, 0.1)
		h.Canary.Rounds = make([][]journal.Setting, 2)
		if most := h.Lasts()/2 + time.Duration(h.Slices())*time.Second/2; podLife(h, 2, 30*time.Second) < most+time.Minute {
			t.Errorf("pods live for %v, and a round with slices of %v takes %v", podLife(h, 2, 30*time.Second), slice, most)
		}
	}
}

// TestCanaryTellsOfNoRequests: once in a round, after two slices in which no request came to any
// pod, or too few.
func TestCanaryTellsOfNoRequests(t *testing.T) {
	round := []journal.Setting{judge.SettingOf(nil), judge.SettingOf(new(1))}
	h := judge.Header{Header: journal.Header{Load: journal.Load{DurationSeconds: 600}, Canary: &journal.Canary{SliceSeconds: 60, Rounds: [][]journal.Setting{round}}}}
	for _, c := range []struct {
		cpu, requests float64
		told          string // "": nothing
	}{
		{0.03, 0, "no request has reached the canary's pods in 2 slices"}, {0.03, 5, "fewer than 1 req/s per pod have reached the canary's pods in 2 slices"}, {6, 5, ""},
	} {
		var shown strings.Builder
		p := &canaryProgress{std: newStdio(t.Context(), nil, nil, &shown, nil), header: h, began: time.Now()}
		for block := range 4 {
			var trials []journal.Trial
			for _, a := range round {
				trials = append(trials, journal.Trial{Setting: a, Block: block, ObservedProcs: []*int{nil}, Usage: journal.Usage{MeasuredSeconds: 60, CPUSeconds: &journal.CPUSeconds{User: c.cpu}}, Metrics: map[string]journal.Metric{judge.Requests: {Value: c.requests}}})
			}
			p.tell(paired.Event{Kind: paired.EventSlice, Block: block, Trials: trials})
		}
		text := shown.String()
		if strings.Count(text, "have reached")+strings.Count(text, "has reached") != min(1, len(c.told)) || !strings.Contains(text, c.told) {
			t.Errorf("want %q once:\n%s", c.told, text)
		}
	}
}

// An object may be named by a variable, as in a fleet.yaml.
func TestObjectOfAVariable(t *testing.T) {
	t.Setenv("THE_OBJECT", "deployment/api")
	if got, err := objectOf(quiet(), "kube sweep", []string{"{env:THE_OBJECT}"}); got != "deployment/api" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
