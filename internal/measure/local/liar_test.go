package local

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/maxprocs/live"
	"github.com/procfit/procfit/test/must"
)

// liarArgument makes this test binary a server that answers for a while once the load has
// started, and then keeps silent: on all its connections, on every second one, or on none.
const liarArgument = "(liar)"

const (
	// loaded is the request by which the server knows that the load has started: a trial sends
	// fewer to find out whether the server is ready.
	loaded = 20
	// goodTime is how long it answers from then on: into the middle of the throughput phase of
	// TestServersThatHang, which lasts a second after a fifth of one.
	goodTime = 700 * time.Millisecond
)

func liar(addr, silent string) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	var answered, opened, began atomic.Int64
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			mute := silent == "all" || silent == "half" && opened.Add(1)%2 == 0
			for r := bufio.NewReader(c); ; {
				for line := ""; line != "\r\n"; {
					if line, err = r.ReadString('\n'); err != nil {
						return
					}
				}
				if answered.Add(1) == loaded {
					began.Store(time.Now().UnixNano())
				}
				if at := began.Load(); mute && at > 0 && time.Since(time.Unix(0, at)) > goodTime {
					select {} // the connection stays open, and nothing comes
				}
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			}
		}()
	}
}

// lesseeArgument makes this test binary a server that allows leases, or not, as its mode says.
const lesseeArgument = "(lessee)"

func lessee(mode string) {
	switch mode {
	case "up to 8":
		live.Allow(nil, live.Max(8))
	case "refuses":
		live.Allow(nil, live.Max(8), live.Refuse(func() error { return errors.New("it is the leader") }))
	}
}

// A server that locks up, wholly or on some connections, makes the trial invalid,
// however many requests it answered before.
func TestServersThatHang(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		silent, want string
		replicas     int
		code         journal.InvalidCode
	}{
		{"all", "the target stopped answering", 1, journal.InvalidNoAnswer},
		{"all", "of 2 stopped answering", 2, journal.InvalidNoAnswer},
		{"half", " answer", 1, journal.InvalidErrors}, // "got no answers", or on a slow machine, of few requests, "never"
		{"none", "", 1, ""},
	} {
		t.Run(fmt.Sprintf("silent on %s, %d replicas", tc.silent, tc.replicas), func(t *testing.T) {
			t.Parallel() // it waits for them
			self, err := os.Executable()
			must.OK(t, err)
			s := plan.Default()
			s.Target.Command = []string{self, liarArgument, "127.0.0.1:" + plan.PortPlaceholder, tc.silent}
			s.Target.URL = "http://127.0.0.1:" + plan.PortPlaceholder + "/"
			s.Target.Grace = 100 * time.Millisecond
			s.Load.Stretch = false
			s.Load.Duration, s.Load.Warmup, s.Load.Connections, s.Replicas = 2*time.Second, 0, 8, []int{tc.replicas}
			setting := journal.Setting{Label: journal.Default, Replicas: tc.replicas}
			rate := 50.0
			var trial journal.Trial
			for range 5 { // a machine whose CPUs others take tells nothing of the server
				trial, err = prepared(t, s, Config{}, setting).Run(t.Context(), plan.Task{Setting: setting, RatePerSecond: &rate}, nil)
				if err != nil || trial.InvalidCode == tc.code {
					break
				}
			}
			if err != nil || trial.InvalidCode != tc.code || !strings.Contains(trial.InvalidReason, tc.want) {
				t.Errorf("%v, %s %q, want %s with %q", err, trial.InvalidCode, trial.InvalidReason, tc.code, tc.want)
			}
		})
	}
}

// Where a child of the command is the one that is read, the reason names it: a parent may
// set the variable for its children.
func TestAChildWithAnotherValue(t *testing.T) {
	t.Parallel()
	s := overheadSpec(t)
	s.Target.Command = append([]string{"sh", "-c", `GOMAXPROCS=1 "$@" & wait`, "sh"}, s.Target.Command...)
	setting := journal.Setting{Label: "2", Procs: new(2), Replicas: 1}
	trial, err := answered(t.Context(), prepared(t, s, Config{}, setting), plan.Task{Setting: setting}, nil)
	if err != nil || trial.InvalidCode != journal.InvalidProcs || !regexp.MustCompile(`^the target's child process [0-9]+ \(.+\) ran with GOMAXPROCS=1 instead of 2: .*a parent that sets it for its children`).MatchString(trial.InvalidReason) {
		t.Errorf("%v, %s %q", err, trial.InvalidCode, trial.InvalidReason)
	}
}

// A server that takes its address from its environment alone gets a free port there.
func TestPortInTheEnvironment(t *testing.T) {
	t.Parallel()
	s := overheadSpec(t)
	s.Target.Command = append([]string{"sh", "-c", `exec "$@" "$ADDRESS"`, "sh"}, s.Target.Command[:2]...)
	s.Target.Env = []string{"ADDRESS=127.0.0.1:" + plan.PortPlaceholder}
	must.OK(t, s.Validate())
	valid(t, s)
}
