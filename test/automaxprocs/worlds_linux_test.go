package automaxprocs

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

const worlds = "../../maxprocs/facts/testdata/worlds"

func buildProbe(t *testing.T) string {
	t.Helper()
	opened(t, "testdata/probe")
	probe := filepath.Join(t.TempDir(), "probe")
	build := exec.Command("go", "build", "-o", probe, "./testdata/probe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	must.Output(t, build)
	return probe
}

// compare holds the policy's answer in a world against what automaxprocs does
// there, which it returns: set, left or fails.
func compare(t *testing.T, world, probe string) (f facts.Facts, got string) {
	t.Helper()
	f = must.Get(facts.ReadFS(os.DirFS(world), 0))(t)
	f.GODEBUG = facts.Fact{State: facts.Known, Raw: "containermaxprocs=0"} // as the probe runs
	d := facts.Decide(f, facts.Automaxprocs{Version: "1.26"})
	want := "left"
	if strings.Contains(d.String(), "the runtime no longer follows changes of the limit") {
		want = "set " + strconv.Itoa(d.Procs)
	}
	got, why, _ := strings.Cut(strings.TrimSpace(runIn(t, world, probe)), "\n")
	if got != want {
		t.Errorf("automaxprocs: %s (%s); the policy: %s\n%s", got, why, want, d)
	}
	if failed, says := why != "", strings.Contains(d.String(), "changes nothing"); failed && !says {
		t.Errorf("automaxprocs failed with %q, the policy does not say so:\n%s", why, d)
	}
	if why != "" {
		got = "fails"
	}
	return f, got
}

// TestPolicy runs automaxprocs itself in every world, with that world as its
// root directory, and asks the policy what it does there.
func TestPolicy(t *testing.T) {
	need.Root(t) // for chroot
	opened(t, worlds)
	probe := buildProbe(t)
	dirs, err := filepath.Glob(worlds + "/*/proc")
	if err != nil || len(dirs) < 60 {
		t.Fatalf("%d worlds, %v", len(dirs), err)
	}
	answers := map[string]int{}
	for _, dir := range dirs {
		world := filepath.Dir(dir)
		t.Run(filepath.Base(world), func(t *testing.T) {
			if filepath.Base(world) == "v2-huge-quota" {
				t.Skip("automaxprocs would set 412 million Ps, and the machine has no memory for them")
			}
			_, got := compare(t, world, probe)
			answers[got]++
		})
	}
	if answers["left"]+answers["fails"] < 10 || answers["set 2"] < 10 {
		t.Errorf("the worlds tell too little apart: %v", answers)
	}
}

// TestOptions runs automaxprocs with its options in worlds of several limits.
func TestOptions(t *testing.T) {
	need.Root(t) // for chroot
	opened(t, worlds)
	probe := buildProbe(t)
	for _, name := range []string{"v2-leaf", "v2-quarter", "v2-just-above", "v1-leaf"} {
		world := filepath.Join(worlds, name)
		f := must.Get(facts.ReadFS(os.DirFS(world), 0))(t)
		f.GODEBUG = facts.Fact{State: facts.Known, Raw: "containermaxprocs=0"} // as the probe runs
		for options, p := range map[string]facts.Automaxprocs{
			"3": {Min: 3}, "0": {}, "ceil": {Rounding: facts.Ceil}, "ceil 2": {Rounding: facts.Ceil, Min: 2},
		} {
			p.Version = "1.26"
			want := "set " + strconv.Itoa(facts.Decide(f, p).Procs)
			if got := strings.TrimSpace(runIn(t, world, probe, strings.Fields(options)...)); got != want {
				t.Errorf("%s with %s: automaxprocs: %s; the policy: %s", name, options, got, want)
			}
		}
	}
}

// runIn runs the probe with a copy of the world as its root.
func runIn(t *testing.T, world, probe string, options ...string) string {
	t.Helper()
	root := t.TempDir()
	must.OK(t, os.CopyFS(root, os.DirFS(world)))
	must.OK(t, os.Link(probe, filepath.Join(root, "probe")))
	cmd := exec.Command("/probe", options...)
	// Without the setting, Go 1.26 itself dies of a period of zero.
	cmd.Dir, cmd.Env = "/", []string{"GODEBUG=containermaxprocs=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	environ, err := os.ReadFile(filepath.Join(world, "proc/self/environ"))
	if err != nil && !errors.Is(err, syscall.EISDIR) && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, entry := range strings.Split(string(environ), "\x00") {
		if strings.HasPrefix(entry, "GOMAXPROCS=") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	return must.Output(t, cmd)
}
