//go:build unix

package halt

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/test/child"
	"github.com/procfit/procfit/test/must"
)

// A process that watches itself: it says so, and at the end of its input for how long it
// was stopped.
func TestMain(m *testing.M) {
	if os.Getenv("HALT_WATCHED") == "" {
		os.Exit(m.Run())
	}
	w := Start()
	fmt.Println("watching")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	fmt.Println(w.End())
}

func TestStopped(t *testing.T) {
	const stop = 600 * time.Millisecond
	if got := watched(t, stop); got < stop/2 {
		t.Errorf("stopped for %v, watched %v", stop, got)
	}
	// A busy machine may have no CPU for it just when the signal comes.
	for attempt := 1; ; attempt++ {
		got := watched(t, 0)
		if got == 0 {
			break
		}
		if attempt == 5 {
			t.Fatalf("only continued, watched %v, and something in every attempt", got)
		}
	}
}

// watched is for how long a process saw that it was stopped, which it was for so long.
func watched(t *testing.T, stop time.Duration) time.Duration {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "HALT_WATCHED=1")
	x := child.Start(t, c)
	if line := x.Line(); line != "watching" {
		t.Fatalf("%q", line)
	}
	if stop > 0 {
		must.OK(t, c.Process.Signal(syscall.SIGSTOP))
		time.Sleep(stop)
	}
	must.OK(t, c.Process.Signal(syscall.SIGCONT))
	x.In.Close()
	line := x.Line()
	must.OK(t, x.Wait())
	return must.Get(time.ParseDuration(line))(t)
}

// A gap is a stop where the signal comes with it, in whichever order both are seen.
func TestGaps(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(0, int64(ms)*1e6) }
	type look struct {
		ms     int
		signal bool
	}
	for name, c := range map[string]struct {
		looks []look
		want  time.Duration
	}{
		"no CPU":             {[]look{{50, false}, {3000, false}, {3050, false}}, 0},
		"signal last":        {[]look{{50, false}, {3050, false}, {3060, true}}, 3 * time.Second},
		"signal first":       {[]look{{50, false}, {3050, true}, {3060, false}}, 3 * time.Second},
		"only a signal":      {[]look{{50, true}, {100, false}, {150, false}}, 0},
		"much later no CPU":  {[]look{{50, true}, {5000, false}}, 0},
		"twice":              {[]look{{1000, true}, {1050, false}, {2050, true}}, 2 * time.Second},
		"too short to count": {[]look{{150, true}, {200, false}}, 0},
	} {
		s := stops{last: at(0)}
		for _, l := range c.looks {
			s.look(at(l.ms), l.signal)
		}
		if s.total != c.want {
			t.Errorf("%s: %v, want %v", name, s.total, c.want)
		}
	}
}
