package goproc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/need"
)

// build compiles the probe, outside the workspace: inside one, an old language
// version gets no GODEBUG defaults.
func build(t testing.TB, env []string, args ...string) string {
	t.Helper()
	need.Command(t, "go")
	out := filepath.Join(t.TempDir(), "probe")
	cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false"}, args...), "-o", out, ".")...)
	cmd.Dir = filepath.Join("testdata", "probe")
	cmd.Env = append(append(os.Environ(), "GOWORK=off"), env...)
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %v: %v\n%s", args, err, msg)
	}
	return out
}

// probe is a running probe: what it says of itself.
type probe struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func start(t testing.TB, path string, env ...string) *probe {
	t.Helper()
	cmd := exec.Command(path)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOMAXPROCS=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return &probe{t, cmd, in, bufio.NewScanner(out)}
}

func (p *probe) pid() int { return p.cmd.Process.Pid }

func (p *probe) says() int {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatalf("the probe ended: %v", p.out.Err())
	}
	n, err := strconv.Atoi(p.out.Text())
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

func (p *probe) set(n int) {
	p.t.Helper()
	if _, err := fmt.Fprintln(p.in, n); err != nil {
		p.t.Fatal(err)
	}
}

// TestLive compares what is read with what the program says of itself, for each
// way of building it.
func TestLive(t *testing.T) {
	for _, mode := range []struct {
		name string
		env  []string
		args []string
	}{
		{"exe", []string{"CGO_ENABLED=0"}, nil},
		{"pie", []string{"CGO_ENABLED=0"}, []string{"-buildmode=pie"}},
		{"cgo", []string{"CGO_ENABLED=1"}, nil},
		{"cgopie", []string{"CGO_ENABLED=1"}, []string{"-buildmode=pie"}},
	} {
		for _, stripped := range []bool{false, true} {
			name, args, source := mode.name, mode.args, Symbol
			if stripped {
				name, args, source = name+"/stripped", append(args, "-ldflags=-s -w"), Decoded
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if strings.HasPrefix(mode.name, "cgo") {
					need.Command(t, "gcc")
				}
				if stripped && runtime.GOARCH != "amd64" {
					t.Skip("only amd64 code is decoded")
				}
				path := build(t, mode.env, args...)
				var cache Cache
				for _, env := range [][]string{nil, {"GOMAXPROCS=1"}, {"GOMAXPROCS=3"}} {
					p := start(t, path, env...)
					check(t, &cache, p, source)
					p.set(5)
					if got := check(t, &cache, p, source); got != 5 {
						t.Errorf("%v: after GOMAXPROCS(5) the probe says %d", env, got)
					}
				}
				if len(cache.files) != 1 {
					t.Errorf("%d files in the cache, want 1", len(cache.files))
				}
			})
		}
	}
}

func check(t *testing.T, c *Cache, p *probe, source Source) int {
	t.Helper()
	says := p.says()
	live, err := c.Live(p.pid())
	if err != nil {
		t.Fatal(err)
	}
	if live.Procs != says || live.Source != source {
		t.Errorf("read %d by %s, the program says %d, want source %s", live.Procs, live.Source, says, source)
	}
	if live.GoVersion != runtime.Version() || live.MainModule != "example.com/probe" {
		t.Errorf("read version %q, module %q", live.GoVersion, live.MainModule)
	}
	return says
}
