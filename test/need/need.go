// Package need states what a test cannot do without. Where it is missing the
// test skips and says what is missing; with PROCFIT_REQUIRE=1 in the
// environment, as .ci/run has it, it fails instead, so that nothing is left out
// there unseen.
package need

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// Required tells that nothing may be skipped here.
func Required() bool { return os.Getenv("PROCFIT_REQUIRE") == "1" }

// Skip skips the test for the reason, or fails it where nothing may be skipped.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if Required() {
		t.Fatalf("nothing may be skipped here: %s", reason)
	}
	t.Skip(reason)
}

// Missing says what there is not, "root", "cpus" (two of them) or a command of the
// system, or is empty.
func Missing(what string) string {
	switch what {
	case "root":
		if os.Geteuid() != 0 {
			return "needs root"
		}
		return ""
	case "cpus":
		if runtime.NumCPU() < 2 {
			return "needs two CPUs"
		}
		return ""
	}
	if _, err := exec.LookPath(what); err != nil {
		return "needs " + what + " (Debian: apt-get install " + what + ")"
	}
	return ""
}

// Root is for tests that make cgroups, mounts or other users' processes.
func Root(t testing.TB) {
	t.Helper()
	if missing := Missing("root"); missing != "" {
		Skip(t, missing)
	}
}

// Command is for tests that run a program of the system; it returns its path.
func Command(t testing.TB, name string) string {
	t.Helper()
	if missing := Missing(name); missing != "" {
		Skip(t, missing)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
