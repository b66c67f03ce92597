// Package need states what a test needs, and which tests belong to the second
// tier. Where something is missing, the test skips and says what is missing.
//
// The tests have two tiers. "go test work" is the first: it proves the logic and
// one real run of each ability. "PROCFIT_REQUIRE=1 go test work" is the second, as
// .ci/run has it: it runs every test, and a test that would skip fails instead.
package need

import (
	"cmp"
	"flag"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
)

// A hook of git, or git rebase -x, that runs tests names its repository to them: they would write
// into it in place of their own.
func init() {
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} {
		os.Unsetenv(name)
	}
}

// Required reports whether nothing may be skipped here: the second tier.
func Required() bool { return os.Getenv("PROCFIT_REQUIRE") == "1" }

// NewGo is the Go release that .ci/new-go asks about, such as 1.28.0: tests that compare
// with several releases then take it alone. Empty: they take those that they name.
func NewGo() string { return os.Getenv("PROCFIT_GO") }

// Recorded is the folder of logs and traces that tests of their readers take: testdata, or
// that of .ci/new-go, which has those of one release.
func Recorded() string { return cmp.Or(os.Getenv("PROCFIT_RECORDED"), "testdata") }

// Skip skips the test for the reason, or fails it where nothing may be skipped.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if Required() {
		t.Fatalf("nothing may be skipped here: %s", reason)
	}
	t.Skip(reason)
}

// Everything marks a test, or the rest of one, that only the second tier runs. In
// the first tier, and with -short, it skips the test for the reason, which says why the
// first tier can do without it. Scripts write [!everything] skip 'why'.
func Everything(t testing.TB, why string) {
	t.Helper()
	if !Full() {
		t.Skip("only with PROCFIT_REQUIRE=1: " + why)
	}
}

// Full reports whether this is the second tier, for a test that does more there. With
// -short it is not. What Whole asks for is more than the second tier.
func Full() bool { return (Required() || Whole()) && !testing.Short() }

// Whole reports whether PROCFIT_FULL=1 asks for tests at full size, as .ci/full does: what
// takes the whole machine for a minute, if the second tier proves the logic.
func Whole() bool { return os.Getenv("PROCFIT_FULL") == "1" }

// Beyond marks a test that even the second tier leaves to .ci/full, and skips it elsewhere
// for the reason.
func Beyond(t testing.TB, why string) {
	t.Helper()
	if !Whole() {
		t.Skip("only with PROCFIT_FULL=1: " + why)
	}
}

// Waiting lets n parallel tests of this test program run at a time, unless -parallel
// says how many. It is called in TestMain where the parallel tests wait: go test runs
// one for each CPU, which suits tests that compute.
func Waiting(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err)
	}
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
	path, err := exec.LookPath(name)
	if err != nil {
		Skip(t, Missing(name))
	}
	return path
}
