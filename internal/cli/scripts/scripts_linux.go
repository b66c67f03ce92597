// Package scripts runs the scripts that specify the command line. The folders in it hold the
// scripts, each folder as a test program of its own, and the other tests of the command line
// have the stand-in targets from here.
package scripts

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	gosource "github.com/procfit/procfit/internal/check/source"
	"github.com/procfit/procfit/internal/cli/entry"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/test/need"
)

// Command is cli.Main, which this package cannot import: the tests of that package import this one.
type Command func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int

var procfit Command

// Main is the TestMain of a program whose tests run procfit. It makes procfit, the stand-in
// targets and more of them commands: each is this test binary under another name.
func Main(m *testing.M, command Command, more map[string]func()) {
	for _, stage := range []func([]string) (int, bool){supervisor.Stage, steer.Stage, gosource.Stage} {
		if code, ok := stage(os.Args); ok {
			os.Exit(code)
		}
	}
	procfit = command
	session.LooksAtMachine = false // the scripts have the same trials and the same answer on every machine, however busy
	commands := map[string]func(){
		"procfit":    func() { os.Exit(command(context.Background(), os.Args[1:], os.Stdin, copying(os.Stdout), os.Stderr)) },
		entry.Name:   func() { os.Exit(entry.Main(os.Args[1:], os.Stdout, os.Stderr)) },
		"fakeserver": fakeServer,
		"fakebatch":  fakeBatch,
		"fakemodern": fakeModern,
		"fakekube":   fakeKube,
		"fakeprocs":  fakeProcs,
		"fakeprom":   fakePrometheus,
	}
	maps.Copy(commands, more)
	testscript.Main(waiting{m}, commands)
}

// waiting are tests that mostly wait, for servers, trials and timeouts: eight run at a
// time, however few CPUs there are.
type waiting struct{ *testing.M }

func (w waiting) Run() int {
	need.Waiting(8)
	return w.M.Run()
}

// Run runs the scripts in a folder, with variables of the form NAME=VALUE in addition to
// those that all scripts have. The scripts wait more than they compute, and run beside each
// other.
func Run(t *testing.T, dir string, env ...string) {
	testscript.Run(t, params(t, dir, env))
}

// RunAlone runs the scripts in a folder whose checks depend on what a program gets of the
// CPUs, one after the other. Another package's tests may run meanwhile.
func RunAlone(t *testing.T, dir string) {
	testscript.RunT(alone{t}, params(t, dir, nil))
}

// alone is a test whose scripts run one after the other.
type alone struct{ *testing.T }

func (alone) Parallel()     {}
func (alone) Verbose() bool { return testing.Verbose() }

func (a alone) Run(name string, f func(testscript.T)) {
	a.T.Run(name, func(t *testing.T) { f(alone{t}) })
}

func params(t *testing.T, dir string, env []string) testscript.Params {
	dir, err := filepath.Abs(dir) // a command of a script may change the directory meanwhile
	if err != nil {
		t.Fatal(err)
	}
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           condition,
		Setup:               setup(t, dir, env),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"call":      scriptCall,
			"returns":   scriptReturns,
			"trials":    scriptTrials,
			"waitfor":   scriptWaitFor,
			"gone":      scriptGone,
			"freeport":  scriptFreePort,
			"waitport":  scriptWaitPort,
			"exitcode":  scriptExitCode,
			"interrupt": scriptInterrupt(syscall.SIGINT),
			"terminate": scriptInterrupt(syscall.SIGTERM),
			"tmpfs":     scriptTmpfs,
			"nogroups":  scriptNoGroups,
			"goprogram": scriptGoProgram,
			"goimage":   scriptGoImage,
			"page":      scriptPage,
		},
	}
}

// dirKey and namesKey are what setup leaves for the commands of a script: the folder
// of the scripts, and the names of the variables that setup has set.
type dirKey struct{}
type namesKey struct{}

// setup names the procfit of the scripts by its path too, and the Go version. It looks
// at the environment once, before a command of another script takes that for itself.
func setup(t *testing.T, dir string, more []string) func(env *testscript.Env) error {
	path, err := exec.LookPath("procfit")
	if err != nil {
		t.Fatal(err)
	}
	vars := [][2]string{
		{"PATH", os.Getenv("PATH")},
		{"PROCFIT", path},
		{"GORACE", "atexit_sleep_ms=0"}, // a second for each command, under -race
		{"GOVERSION", strings.TrimPrefix(runtime.Version(), "go")},
		{"GOPROXY", goEnv("GOPROXY")},
		{"GOMODCACHE", goEnv("GOMODCACHE")},
		{"GOCACHE", goEnv("GOCACHE")}, // what a script builds is compiled once on a machine
	}
	for _, v := range more {
		name, value, _ := strings.Cut(v, "=")
		vars = append(vars, [2]string{name, value})
	}
	return func(env *testscript.Env) error {
		for _, v := range vars {
			env.Setenv(v[0], v[1])
		}
		var names []string
		for _, v := range env.Vars {
			name, _, _ := strings.Cut(v, "=")
			names = append(names, name)
		}
		env.Values[dirKey{}], env.Values[namesKey{}] = dir, names
		return validating(t, env)
	}
}

func goEnv(name string) string {
	out, _ := exec.Command("go", "env", name).Output()
	return strings.TrimSpace(string(out))
}

// condition is need:root or need:COMMAND, for [!need:wrk] skip 'needs wrk'. Where
// nothing may be skipped, what is missing fails the script. It is also everything,
// for [!everything] skip 'why', which keeps a script to the second tier of the tests.
func condition(cond string) (bool, error) {
	inside.Lock() // PATH and PROCFIT_REQUIRE are the test's own, not another script's
	defer inside.Unlock()
	if cond == "everything" {
		return need.Full(), nil
	}
	what, ok := strings.CutPrefix(cond, "need:")
	if !ok {
		return false, fmt.Errorf("unknown condition %q", cond)
	}
	missing := need.Missing(what)
	if missing != "" && need.Required() {
		return false, fmt.Errorf("nothing may be skipped here: %s", missing)
	}
	return missing == "", nil
}
