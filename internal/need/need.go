// Package need states what a test cannot do without. Where it is missing the
// test skips and says what is missing; with PROCFIT_REQUIRE=1 in the
// environment, as .ci/run has it, it fails instead, so that nothing is left out
// there unseen.
package need

import (
	"os"
	"os/exec"
	"testing"
)

// Skip skips the test for the reason, or fails it where nothing may be skipped.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("PROCFIT_REQUIRE") == "1" {
		t.Fatalf("nothing may be skipped here: %s", reason)
	}
	t.Skip(reason)
}

// Root is for tests that make cgroups, mounts or other users' processes.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		Skip(t, "needs root")
	}
}

// Command is for tests that run a program of the system; it returns its path.
func Command(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Skip(t, "needs "+name+" (Debian: apt-get install "+name+")")
	}
	return path
}
