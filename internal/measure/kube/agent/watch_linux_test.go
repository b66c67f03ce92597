package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"sync/atomic"
	"testing"
)

// A program is followed from its start to its end; what is there before and after is not
// its own.
func TestWatch(t *testing.T) {
	cmd := exec.Command("sleep", "0.4")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	var asked atomic.Int64
	done := make(chan error)
	go func() { done <- cmd.Wait() }()
	w := watcher{observer: observer{list: func() []int {
		if asked.Add(1) == 1 || !slices.Contains(pids(), pid) {
			return nil // not yet, or no more
		}
		return []int{pid}
	}}}
	ran, err := w.follow(t.Context())
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err != nil || ran.WallSeconds < 0.2 || ran.Counted.Error != "" || ran.Counted.CPUSeconds == nil || ran.Counted.MeasuredSeconds != ran.WallSeconds || !ran.Look.NoGo {
		t.Errorf("%v: %+v", err, ran)
	}
}

// A watcher that is asked to end reports what it has seen; without a program that is nothing.
func TestWatchEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := watcher{observer: observer{list: func() []int { return nil }}}
	if _, err := w.follow(ctx); err == nil {
		t.Error("nothing was there, and something is told")
	}
	self := watcher{observer: observer{list: func() []int { return []int{1} }}}
	ran, err := self.follow(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if ran.Look.Procs == 0 && ran.Look.Error == "" {
		t.Errorf("nothing was read, and nothing says so: %+v", ran.Look)
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(ran); err != nil || bytes.Count(b.Bytes(), []byte("\n")) != 1 {
		t.Errorf("%v: %q", err, b.String())
	}
}
