package live

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/program/goproc/goproctest"
	"github.com/procfit/procfit/test/need"
)

// release is a toolchain and what can be read of its programs beside GOMAXPROCS
// and the number of CPUs.
type release struct {
	toolchain string
	custom    bool // runtime.sched has customGOMAXPROCS
	latency   bool // its histogram is that which is read
	collector bool // its accounting is that which is read, with times where it has any
	fullOnly  bool // not in the run that everybody makes
}

var releases = asked([]release{
	{"go1.18.10", false, false, false, true},
	{"go1.19.13", false, false, true, true},
	{"go1.20.14", false, true, true, true},
	{"go1.21.13", false, true, true, false},
	{"go1.22.12", false, true, true, false},
	{"go1.23.12", false, true, true, false},
	{"go1.24.6", false, true, true, false},
	{"go1.25.0", true, true, true, false},
	{"go1.26.8", true, true, true, false},
	{"go1.27.1", true, true, true, false},
})

// asked are the releases, or a new one alone: of it everything is to be read.
func asked(list []release) []release {
	if v := need.NewGo(); v != "" {
		return []release{{"go" + v, true, true, true, false}}
	}
	return list
}

// language is the go line that gives a toolchain's own defaults.
func (r release) language() string {
	v := strings.TrimPrefix(r.toolchain, "go")
	return v[:strings.LastIndex(v, ".")]
}

// mode is a way to build.
type mode struct {
	name     string
	env      []string
	args     []string
	fullOnly bool
}

func (m mode) cgo() bool { return m.env[0] == "CGO_ENABLED=1" }

var modes = []mode{
	{"exe", []string{"CGO_ENABLED=0"}, nil, false},
	{"pie", []string{"CGO_ENABLED=0"}, []string{"-buildmode=pie"}, false},
	{"cgo", []string{"CGO_ENABLED=1"}, nil, false},
	{"cgo pie", []string{"CGO_ENABLED=1"}, []string{"-buildmode=pie"}, true},
	{"-N -l", []string{"CGO_ENABLED=0"}, []string{"-gcflags=all=-N -l"}, true},
	{"GOAMD64=v3", []string{"CGO_ENABLED=0", "GOAMD64=v3"}, nil, true},
	{"-race", []string{"CGO_ENABLED=1"}, []string{"-race"}, true},
}

// settings are the values of GOMAXPROCS that every program is started with; empty
// is unset.
var settings = []string{"", "1", "3"}

// cell is one program, which is then run with every setting.
type cell struct {
	release  release
	mode     mode
	stripped bool
}

func (c cell) String() string {
	name := c.release.toolchain + "/" + strings.ReplaceAll(c.mode.name, " ", "_")
	if c.stripped {
		return name + "/stripped"
	}
	return name + "/symbols"
}

// full reports whether every cell is to be run, as by .ci/full.
func full() bool { return os.Getenv("PROCFIT_FULL") == "1" || need.NewGo() != "" }

// plan is every cell, or those that show every pair of a release, a mode and
// whether it is stripped; the settings pair with all of them.
func plan(all bool) []cell {
	var cells []cell
	for r, release := range releases {
		for m, mode := range modes {
			for s, stripped := range []bool{false, true} {
				if all || !release.fullOnly && !mode.fullOnly && (r+m)%2 == s {
					cells = append(cells, cell{release, mode, stripped})
				}
			}
		}
	}
	return cells
}

func TestPlan(t *testing.T) {
	shown := map[[2]string]bool{}
	strip := func(s bool) string { return map[bool]string{true: "stripped", false: "symbols"}[s] }
	cells := plan(false)
	for _, c := range cells {
		shown[[2]string{c.release.toolchain, c.mode.name}] = true
		shown[[2]string{c.release.toolchain, strip(c.stripped)}] = true
		shown[[2]string{c.mode.name, strip(c.stripped)}] = true
	}
	want := 0
	for _, c := range plan(true) {
		if c.release.fullOnly || c.mode.fullOnly {
			continue
		}
		want++
		for _, pair := range [][2]string{
			{c.release.toolchain, c.mode.name}, {c.release.toolchain, strip(c.stripped)}, {c.mode.name, strip(c.stripped)},
		} {
			if !shown[pair] {
				t.Errorf("no cell shows %v", pair)
			}
		}
	}
	if want != 2*len(cells) {
		t.Errorf("%d cells of %d, want half", len(cells), want)
	}
}

// build builds the probe of a cell, stripped or with symbols.
func (c cell) build(t *testing.T, env ...string) string {
	t.Helper()
	if c.mode.cgo() {
		need.Command(t, "gcc")
	}
	args := c.mode.args
	if c.stripped {
		args = append([]string{"-ldflags=-s -w"}, args...)
	}
	return goproctest.Build{
		Toolchain: c.release.toolchain,
		Language:  c.release.language(),
		Env:       append(append([]string{"GOFLAGS="}, c.mode.env...), env...),
		Args:      args,
	}.Run(t)
}

// fetch gets the toolchains, which are about 70 MB each, once.
func fetch(t *testing.T) {
	t.Helper()
	gocmd := need.Command(t, "go")
	for _, r := range releases {
		if r.fullOnly && !full() {
			continue
		}
		cmd := exec.Command(gocmd, "version")
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN="+r.toolchain)
		var errs strings.Builder
		cmd.Stderr = &errs // go reports there that it downloads
		out, err := cmd.Output()
		if err != nil || !strings.HasPrefix(string(out), "go version "+r.toolchain+" ") {
			need.Skip(t, "needs the toolchain "+r.toolchain+", which go could not fetch: "+strings.TrimSpace(string(out)+" "+errs.String()))
		}
	}
}

// slow keeps a test to the second tier, and skips it where there is no time for it.
func slow(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs with many toolchains")
	}
	need.Everything(t, "fetches toolchains and builds programs with each; package goproc reads live programs of this one")
}
