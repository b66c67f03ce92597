package auto

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/internal/gort"
	"github.com/procfit/procfit/maxprocs/internal/must"
)

// TestMain is the program that imports the package, where it is asked to be.
func TestMain(m *testing.M) {
	if os.Getenv("MAXPROCS_TEST_IMPORT") != "" {
		os.Exit(0)
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // for the processes that it starts: a second each, otherwise
	os.Exit(m.Run())
}

// The import says in one line what it did: what was not logged cannot be looked up.
func TestLine(t *testing.T) {
	const stamp = `^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d maxprocs: GOMAXPROCS=`
	for env, want := range map[string]string{
		"GOMAXPROCS=3":   stamp + `3: set in the environment\n$`,
		"GOMAXPROCS=2.5": stamp + `\d+: [^\n]*GOMAXPROCS="2.5" in the environment is not a positive integer, so it is ignored[^\n]*\n$`,
		"A=1":            stamp + `\d+: [^\n]+\n$`,
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "MAXPROCS_TEST_IMPORT=1", env)
		out, err := cmd.CombinedOutput()
		if err != nil || !regexp.MustCompile(want).Match(out) {
			t.Errorf("%s: %v, %q; want %s", env, err, out, want)
		}
	}
}

// Under a limit of one CPU, a runtime that follows the limit keeps its 2, and one that
// ignores it, as with an old go line, gets 1: on two CPUs both start with 2.
func TestOneCPU(t *testing.T) {
	group := oneCPU(t)
	follows := `GOMAXPROCS=2: unchanged, because no limit that the runtime ignores is tighter; `
	if !gort.HasDefault {
		follows = `GOMAXPROCS=1: was \d+; `
	}
	for godebug, want := range map[string]string{
		"containermaxprocs=1,updatemaxprocs=1": follows,
		"containermaxprocs=0,updatemaxprocs=0": `GOMAXPROCS=1: was \d+; `,
	} {
		cmd := exec.Command("/bin/sh", "-c", `echo $$ > "$1/cgroup.procs" && exec "$0"`, os.Args[0], group)
		cmd.Env = append(os.Environ(), "MAXPROCS_TEST_IMPORT=1", "GOMAXPROCS=", "GODEBUG="+godebug)
		out, err := cmd.CombinedOutput()
		if err != nil || !regexp.MustCompile(" maxprocs: "+want+regexp.QuoteMeta(group)+`/cpu\.\S+ limits it to 1 CPU, `).Match(out) {
			t.Errorf("%s: %v, %q; want %s", godebug, err, out, want)
		}
	}
}

// oneCPU is the folder of a cgroup with a limit of one CPU.
func oneCPU(t *testing.T) (dir string) {
	t.Helper()
	skip := func(reason string) {
		t.Helper()
		if os.Getenv("PROCFIT_REQUIRE") == "1" {
			t.Fatalf("nothing may be skipped here: %s", reason)
		}
		t.Skip(reason)
	}
	f := facts.Read()
	if os.Geteuid() != 0 || f.Cgroup.State != facts.Known || f.AffinityCPUs() < 2 {
		skip("needs root, a cgroup with the cpu controller and two CPUs")
	}
	dir = filepath.Join(f.Cgroup.Mount, fmt.Sprintf("auto-test-%d", os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		skip(err.Error())
	}
	t.Cleanup(func() {
		err := os.Remove(dir)
		for tries := 0; err != nil && tries < 200; tries++ { // an ended process leaves its group a moment later
			time.Sleep(10 * time.Millisecond)
			err = os.Remove(dir)
		}
		if err != nil {
			t.Error(err)
		}
	})
	for file, text := range map[string]string{"cpu.max": "100000 100000", "cpu.cfs_quota_us": "100000"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
			must.OK(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
			return dir
		}
	}
	skip("needs the cpu controller in " + dir)
	return ""
}
