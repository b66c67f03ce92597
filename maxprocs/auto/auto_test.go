package auto

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
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
