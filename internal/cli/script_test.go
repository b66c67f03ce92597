//go:build linux

package cli

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/procfit/procfit/internal/cli/entry"
	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/test/need"
)

// TestMain makes procfit and the stand-in targets commands of the scripts: each
// is this test binary under another name.
func TestMain(m *testing.M) {
	if code, ok := supervisor.Stage(os.Args); ok {
		os.Exit(code)
	}
	testscript.Main(waiting{m}, map[string]func(){
		"procfit": func() {
			session.LooksAtMachine = os.Getenv(busyKey) == "" // the scripts themselves keep it busy
			os.Exit(Main(context.Background(), os.Args[1:], os.Stdin, copying(os.Stdout), os.Stderr))
		},
		entry.Name:   func() { os.Exit(entry.Main(os.Args[1:], os.Stdout, os.Stderr)) },
		"fakeserver": fakeServer,
		"slowend":    slowEnd,
		"fakebatch":  fakeBatch,
		"fakemodern": fakeModern,
		"fakekube":   fakeKube,
		"fakeprocs":  fakeProcs,
		"fakeprom":   fakePrometheus,
	})
}

// waiting are tests that mostly wait, for servers, trials and timeouts: eight run at a
// time, however few CPUs there are. -parallel says otherwise.
type waiting struct{ *testing.M }

func (w waiting) Run() int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		must(flag.Set("test.parallel", "8"))
	}
	return w.M.Run()
}

// TestScripts runs testdata/script, the command line's specification. Its scripts wait
// more than they compute, and run beside each other.
func TestScripts(t *testing.T) {
	tellValidated(t)
	dir := folderOfScripts(t, "testdata/script")
	testscript.Run(t, params(t, dir))
}

// TestScriptsAlone runs the scripts whose checks depend on what a program gets of the
// CPUs, one after the other.
func TestScriptsAlone(t *testing.T) {
	dir := folderOfScripts(t, "testdata/script/alone")
	testscript.RunT(alone{t}, params(t, dir))
}

// alone is a test whose scripts do not run beside each other.
type alone struct{ *testing.T }

func (alone) Parallel()     {}
func (alone) Verbose() bool { return testing.Verbose() }

func (a alone) Run(name string, f func(testscript.T)) {
	a.T.Run(name, func(t *testing.T) { f(alone{t}) })
}

func folderOfScripts(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.Abs(name) // a command of a script may change the directory meanwhile
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func params(t *testing.T, dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           condition,
		Setup:               setup(t, dir),
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"call":      scriptCall,
			"returns":   scriptReturns,
			"trials":    scriptTrials,
			"waitfor":   scriptWaitFor,
			"gone":      scriptGone,
			"smaller":   scriptSmaller,
			"freeport":  scriptFreePort,
			"waitport":  scriptWaitPort,
			"exitcode":  scriptExitCode,
			"interrupt": scriptInterrupt,
			"tear":      scriptTear,
			"tmpfs":     scriptTmpfs,
			"nogroups":  scriptNoGroups,
			"otherhost": scriptOtherHost,
			"goprogram": scriptGoProgram,
			"goimage":   scriptGoImage,
			"page":      scriptPage,
		},
	}
}

// busyKey is a variable that is set for scripts that run next to each other.
const busyKey = "SCRIPTS_RUN_TOGETHER"

// dirKey and namesKey are what setup leaves for the commands of a script: the folder
// of the scripts, and the names of the variables that setup has set.
type dirKey struct{}
type namesKey struct{}

// setup names the procfit of the scripts by its path too, and the Go version. It looks
// at the environment once, before a command of another script takes that for itself.
func setup(t *testing.T, dir string) func(env *testscript.Env) error {
	procfit, err := exec.LookPath("procfit")
	if err != nil {
		t.Fatal(err)
	}
	trace, err := filepath.Abs("../trace/exec/testdata/go1.27.1.trace") // a binary cannot stand in a script
	if err != nil {
		t.Fatal(err)
	}
	together := "yes"
	if filepath.Base(dir) == "alone" {
		together = ""
	}
	vars := [][2]string{
		{busyKey, together},
		{"PATH", os.Getenv("PATH")},
		{"PROCFIT", procfit},
		{"GORACE", "atexit_sleep_ms=0"}, // a second for each command, under -race
		{"GOVERSION", strings.TrimPrefix(runtime.Version(), "go")},
		{"EXECTRACE", trace},
		{"GOPROXY", goEnv("GOPROXY")},
		{"GOMODCACHE", goEnv("GOMODCACHE")},
		{"GOCACHE", goEnv("GOCACHE")}, // what a script builds is compiled once on a machine
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
