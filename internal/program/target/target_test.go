package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/program/ready"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// The test binary plays the servers when this is its first argument.
const playArg = "play"

func TestMain(m *testing.M) {
	if code, ok := supervisor.Stage(os.Args); ok {
		os.Exit(code)
	}
	if len(os.Args) == 5 && os.Args[1] == playArg && os.Args[2] == "listen" {
		os.Exit(play(os.Args[3], os.Args[4]))
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // for the processes that it starts: a second each, otherwise
	need.Waiting(8)                          // for targets that are never ready
	os.Exit(m.Run())
}

// play is a server that answers 404, or 503 and nothing else, or is mute.
func play(how, port string) int {
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("up")
	var asked atomic.Int64
	switch how {
	case "mute":
		time.Sleep(time.Minute)
	case "answer":
		http.Serve(l, http.NotFoundHandler())
	case "starting", "sick": // the one for a while, the other for good
		http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if how == "sick" || asked.Add(1) <= 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			fmt.Println("serving")
		}))
	}
	return 1
}

// self is the command that plays a part.
func self(part ...string) []string {
	return append([]string{"/proc/self/exe", playArg}, part...)
}

// begin starts a target that is stopped at the end of the test.
func begin(t *testing.T, spec supervisor.Spec) *supervisor.Process {
	t.Helper()
	p := must.Get(supervisor.Start(t.Context(), spec))(t)
	t.Cleanup(func() { p.Stop(0) })
	return p
}

// up waits until a target says that it is: on a busy machine that is later than a test waits for what
// never comes.
func up(t *testing.T, p *supervisor.Process) {
	t.Helper()
	must.Until(t, "up", func() bool { return p.LastWords(1).Text == "up" })
}

func TestReady(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	p := begin(t, supervisor.Spec{Command: ExpandPort(self("listen", "answer", "{port}"), port)})
	if err := Ready(t.Context(), p, asker(t, port), 20*time.Second); err != nil {
		t.Error(err)
	}
}

func TestNeverReady(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		command []string
		timeout time.Duration
		want    []string
	}{
		{"silent", []string{"sh", "-c", "echo up; sleep 60"}, 300 * time.Millisecond, []string{"nothing listened", "300 ms", "refused", "its last output:\nup"}},
		{"mute", self("listen", "mute", "{port}"), time.Second, []string{"listened", "no answer", "1 s"}},
		{"crash", []string{"sh", "-c", "(sleep 600 &); exit 3"}, 20 * time.Second, []string{"exited with code 3 before it answered"}},
		{"crash with words", []string{"sh", "-c", `echo one; printf '\033[2Jtwo\n' >&2; exit 9`}, 20 * time.Second, []string{"exited with code 9", "one\n\\x1b[2Jtwo"}},
		{"signal", []string{"sh", "-c", "kill -KILL $$"}, 20 * time.Second, []string{"was killed by SIGKILL"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			port := freePort(t)
			p := begin(t, supervisor.Spec{Command: ExpandPort(test.command, port)})
			if test.timeout < 20*time.Second { // else it ends
				up(t, p)
			}
			begun := time.Now()
			err := Ready(t.Context(), p, asker(t, port), test.timeout)
			if err == nil {
				t.Fatal("ready")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if took := time.Since(begun); test.timeout == 20*time.Second && took > test.timeout/2 {
				t.Errorf("took %v to see that it has ended", took)
			}
		})
	}
}

// asker asks at the port over HTTP.
func asker(t *testing.T, port int) *ready.Asker {
	t.Helper()
	return must.Get(ready.NewAsker(ready.Probe{URL: fmt.Sprintf("http://127.0.0.1:%d/", port)}, nil))(t)
}

// A command says when the target is ready, and its last output is reported.
func TestReadyByCommand(t *testing.T) {
	t.Parallel()
	p := begin(t, supervisor.Spec{Command: []string{"sleep", "60"}})
	mark := filepath.Join(t.TempDir(), "mark")
	ask := &ready.Asker{Probe: ready.Probe{Way: ready.WayCommand, Command: []string{"sh", "-c", "echo not yet; test -e " + mark}}, Environ: os.Environ()}
	for seconds := 1; ; seconds *= 5 {
		err := Ready(t.Context(), p, ask, time.Duration(seconds)*time.Second)
		var why *NotReadyError
		if !errors.As(err, &why) || why.Reason != Command {
			t.Fatalf("got %+v, %v", why, err)
		}
		if strings.Contains(err.Error(), fmt.Sprintf("exited with code 1 until %d s were over; its last output:\nnot yet", seconds)) {
			break
		}
		if seconds > 5 || why.Last.Ran { // on a busy machine it may not have ended in a second
			t.Fatal(err)
		}
	}
	must.OK(t, os.WriteFile(mark, nil, 0o600))
	if err := Ready(t.Context(), p, ask, 20*time.Second); err != nil {
		t.Error(err)
	}
	ask.Probe.Command = []string{"sleep", "60"}
	if err := Ready(t.Context(), p, ask, 100*time.Millisecond); err == nil || !strings.Contains(err.Error(), `the command "sleep 60" had not ended when 100 ms were over`) {
		t.Errorf("a command that does not end: %v", err)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	ports := must.Get(FreePorts(1))(t)
	return ports[0]
}

func TestPorts(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := l.Addr().String()
	if err := PortInUse(address); err == nil || !strings.Contains(err.Error(), address) {
		t.Errorf("%s in use: %v", address, err)
	}
	l.Close()
	if err := PortInUse(address); err != nil {
		t.Errorf("%s free again: %v", address, err)
	}
	ports := must.Get(FreePorts(50))(t)
	seen := map[int]bool{}
	for _, port := range ports {
		if seen[port] || PortInUse("127.0.0.1:"+strconv.Itoa(port)) != nil {
			t.Errorf("port %d is taken, or given twice", port)
		}
		seen[port] = true
	}
	got := ExpandPort([]string{"-addr", ":{port}", "{port}{port}", "{ports}"}, 81)
	if strings.Join(got, " ") != "-addr :81 8181 {ports}" {
		t.Errorf("expanded to %q", got)
	}
	if HasPort([]string{"-a", "port"}) || !HasPort([]string{"-a", "x:{port}/"}) {
		t.Error("HasPort is wrong")
	}
}

// A server that answers 503 while it starts is waited for.
func TestReadyAfterStarting(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	p := begin(t, supervisor.Spec{Command: ExpandPort(self("listen", "starting", "{port}"), port)})
	must.OK(t, Ready(t.Context(), p, asker(t, port), 20*time.Second))
	for begun := time.Now(); !strings.Contains(p.LastWords(1).Text, "serving"); time.Sleep(time.Millisecond) {
		if time.Since(begun) > 10*time.Second {
			t.Fatal("ready before it served")
		}
	}
}

func TestNeverServes(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	p := begin(t, supervisor.Spec{Command: ExpandPort(self("listen", "sick", "{port}"), port)})
	up(t, p)
	err := Ready(t.Context(), p, asker(t, port), time.Second)
	var why *NotReadyError
	if !errors.As(err, &why) || why.Reason != Status || why.Last.Status != "503 Service Unavailable" || !strings.Contains(err.Error(), "answered 503 Service Unavailable at http://") {
		t.Errorf("got %+v, %v", why, err)
	}
}

// lateContext is one whose time is over, and whose own timer has not noticed.
type lateContext struct{ context.Context }

func (lateContext) Deadline() (time.Time, bool) { return time.Now().Add(-time.Microsecond), true }

func TestCutOffAtTheDeadline(t *testing.T) {
	if cutOff(t.Context()) || !cutOff(lateContext{t.Context()}) {
		t.Error("an attempt that ended at the deadline is not known for one that was cut off")
	}
}
