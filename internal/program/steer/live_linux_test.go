//go:build !portable && (amd64 || arm64)

package steer

import (
	"context"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/need"
)

var callsFlag = flag.Int("calls", 1000, "how many calls each program gets with PROCFIT_FULL=1")

// beyond is for what takes both CPUs for minutes.
func beyond(t *testing.T) {
	t.Helper()
	need.Beyond(t, "calls into servers under load take both CPUs for minutes; TestSet and TestGuard make some")
}

// TestSet calls into a server of this toolchain under load.
func TestSet(t *testing.T) {
	need.Everything(t, "calls into a server under load take both CPUs")
	x := begin(t, build{args: stripped}.run(t))
	n := 20
	if need.Whole() {
		n = *callsFlag
	}
	x.calls(n)
}

var (
	noC      = []string{"CGO_ENABLED=0"}
	withC    = []string{"CGO_ENABLED=1"}
	stripped = []string{"-ldflags=-s -w"}
)

// toolchains are the first and the last release, and those between them that changed what a
// call meets.
var toolchains = []string{"go1.17.13", "go1.21.13", "go1.24.13", "go1.25.14", "go1.26.11", "go1.27.4"}

// TestReleases calls into servers of all releases under load: no answer may be wrong, late or
// missing.
func TestReleases(t *testing.T) {
	beyond(t)
	for _, release := range append(toolchains, "go1.18.10", "go1.19.13", "go1.20.14", "go1.22.12", "go1.23.12", "go1.25.0") {
		tallied(t, "net/http", release, func(t *testing.T) tally {
			return begin(t, build{toolchain: release, env: noC, args: stripped}.run(t)).calls(*callsFlag)
		})
	}
}

// TestBuilds calls into programs that are built in other ways.
func TestBuilds(t *testing.T) {
	beyond(t)
	external := []string{"-ldflags=-linkmode=external -extldflags=-static"}
	for _, b := range []build{
		{name: "cgo", env: withC},
		{name: "race", env: withC, args: []string{"-race"}},
		{name: "pie", env: noC, args: []string{"-buildmode=pie", "-ldflags=-s -w"}},
		{name: "cgo pie", env: withC, args: []string{"-buildmode=pie", "-ldflags=-s -w"}},
		{name: "static", env: withC, args: external},
		{name: "musl", env: append([]string{"CC=musl-gcc"}, withC...), args: external},
		{name: "unoptimised", env: noC, args: []string{"-gcflags=all=-N -l"}},
	} {
		for _, b.toolchain = range toolchains {
			tallied(t, b.name, b.toolchain, func(t *testing.T) tally {
				need.Command(t, "gcc")
				if b.name == "musl" {
					need.Command(t, "musl-gcc")
				}
				return begin(t, b.run(t)).calls(*callsFlag)
			})
		}
	}
}

// TestModes calls into programs that make it hard.
func TestModes(t *testing.T) {
	beyond(t)
	for _, modes := range [][]string{{"locked", "signals"}, {"collect"}, {"profile"}, {"compute=3", "profile", "signals"}, {"threads=5000"}} {
		for _, release := range toolchains {
			tallied(t, strings.Join(modes, " "), release, func(t *testing.T) tally {
				return begin(t, build{toolchain: release, env: noC, args: stripped}.run(t), modes...).calls(*callsFlag)
			})
		}
	}
}

// TestGRPC calls into a server of grpc-go, whose connections are goroutines that wait for
// each other.
func TestGRPC(t *testing.T) {
	beyond(t)
	for i, release := range toolchains {
		// The last version that each release builds.
		version := []string{"v1.56.3", "v1.65.0", "v1.78.0", "v1.83.2", "v1.83.2", "v1.83.2"}[i]
		tallied(t, "grpc-go", release, func(t *testing.T) tally {
			p := built.Program{
				Name: "grpc", Files: built.Dir(t, "testdata/grpc"), Args: append([]string{"-mod=mod"}, stripped...),
				Env: append([]string{"GOTOOLCHAIN=" + release, "GOENV=off", "GOFLAGS="}, noC...),
			}
			p.Files["go.mod"] = "module example.com/grpc\n\ngo " + strings.Join(strings.Split(strings.TrimPrefix(release, "go"), ".")[:2], ".") + "\n\nrequire google.golang.org/grpc " + version + "\n"
			x := begin(t, p.Run(t))
			x.foreign = true
			return x.callsUnder(*callsFlag, send(8, 0, func() (func() error, func()) {
				c, err := grpc.NewClient(strings.TrimPrefix(x.url, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
				if err != nil {
					t.Error(err)
				}
				return func() error {
					ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
					defer cancel()
					r, err := grpc_health_v1.NewHealthClient(c).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: "seven"})
					if err == nil && r.Status != grpc_health_v1.HealthCheckResponse_SERVING {
						err = errors.New("a wrong answer")
					}
					return err
				}, func() { _ = c.Close() }
			}))
		})
	}
}

// TestIdle calls into a server that gets nothing until procfit reports that, and then two requests a
// second, at one of which it has to be found.
func TestIdle(t *testing.T) {
	need.Everything(t, "TestSet calls into a server of this release")
	x := begin(t, build{args: stripped}.run(t))
	var l *load
	defer func() {
		if l != nil {
			l.stop()
		}
	}()
	r := ask(x.pid(), 7)
	r.Idle = func() {
		if l != nil {
			t.Error("told twice")
			return
		}
		l = requests(x.url, 1, 500*time.Millisecond)
	}
	if _, err := Set(t.Context(), r); l == nil || err != nil && Because(err) != NoPlace {
		t.Fatalf("%v; told that it is idle: %v", err, l != nil)
	}
	n := 5
	if need.Whole() {
		n = min(*callsFlag, 100)
	}
	refused := 0
	for i := range n {
		r, err := x.set(1 + i%4)
		if Because(err) == NoPlace { // on a busy machine it may have come to nothing in ten seconds
			refused++
			continue
		}
		if err != nil || r.New != 1+i%4 || !x.alive() {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if 2*refused > n {
		t.Errorf("%d of %d calls found no place", refused, n)
	}
	if l.failed.Load() > 0 {
		t.Errorf("%d of %d requests failed: %v", l.failed.Load(), l.sent.Load(), l.why.Load())
	}
}
