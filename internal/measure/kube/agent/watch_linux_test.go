package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
)

// A program is followed from its start to its end; what is there before and after is not
// its own.
func TestWatch(t *testing.T) {
	cmd := exec.Command("cat") // which ends with its input
	in := must.Get(cmd.StdinPipe())(t)
	must.OK(t, cmd.Start())
	pid := cmd.Process.Pid
	var asked atomic.Int64
	done := make(chan error)
	go func() { done <- cmd.Wait() }()
	w := watcher{observer: observer{list: func() []int {
		n := asked.Add(1)
		if n == 1 || !slices.Contains(otherPrograms(), pid) {
			return nil // not yet, or no more
		}
		if n == 2 {
			time.AfterFunc(1500*time.Millisecond, func() { in.Close() })
		}
		return []int{pid}
	}}}
	ran, err := w.follow(t.Context())
	must.OK(t, <-done)
	if err != nil || ran.WallSeconds < 1 || ran.Counted.Error != "" || ran.Counted.CPUSeconds == nil || ran.Counted.MeasuredSeconds != ran.WallSeconds || !ran.Look.NoGo || !slices.Equal(ran.Look.Programs, []string{"cat"}) {
		t.Errorf("%v: %+v", err, ran)
	}
}

// A listener that is no Go program is no target that cannot be read: unless a Go program is next
// to it, the target is no Go program, with the names of its programs, whose run is refused.
func TestListenerIsNoGoProgram(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	f := must.Get(l.(*net.TCPListener).File())(t)
	cmd := exec.Command("sleep", "60")
	cmd.ExtraFiles = []*os.File{f} // which makes it the one that listens
	must.OK(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	f.Close()
	l.Close()
	all := []int{cmd.Process.Pid}
	e := observer{list: func() []int { return all }}
	got := e.named(l.Addr().(*net.TCPAddr).Port)
	if r := got.Reading(); !r.NoGo || !slices.Equal(r.Programs, []string{"sleep"}) || r.Err == nil || got.UID == nil {
		t.Errorf("%+v", got)
	}
	all = append(all, os.Getpid())
	if got := e.named(l.Addr().(*net.TCPAddr).Port); got.NoGo || got.Programs != nil || got.Error == "" {
		t.Errorf("next to a Go program: %+v", got)
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
	ran := must.Get(self.follow(ctx))(t)
	if ran.Look.Procs == 0 && ran.Look.Error == "" {
		t.Errorf("nothing was read, and nothing says so: %+v", ran.Look)
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(ran); err != nil || bytes.Count(b.Bytes(), []byte("\n")) != 1 {
		t.Errorf("%v: %q", err, b.String())
	}
}
