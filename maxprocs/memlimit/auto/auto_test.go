package auto

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/memlimit"
)

// TestMain is the program that imports the package, where it is asked to be.
func TestMain(m *testing.M) {
	if os.Getenv("MEMLIMIT_TEST_IMPORT") != "" {
		fmt.Print(debug.SetMemoryLimit(-1))
		os.Exit(0)
	}
	os.Setenv("GORACE", "atexit_sleep_ms=0") // for the processes that it starts: a second each, otherwise
	os.Exit(m.Run())
}

// The import takes what fits the limits of the place where the test runs, or what the
// environment says, and says so in one line.
func TestImport(t *testing.T) {
	fits := memlimit.Decide(facts.ReadMemory(), memlimit.Rule{}).Bytes
	const stamp = `^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d memlimit: GOMEMLIMIT=`
	for env, want := range map[string]struct {
		bytes int64
		line  string
	}{
		"GOMEMLIMIT=1GiB": {1 << 30, stamp + `1GiB: GOMEMLIMIT="1GiB" is set in the environment\n$`},
		"GOMEMLIMIT=off":  {memlimit.NoLimit, stamp + `off: [^\n]*\n$`},
		"GOMEMLIMIT=":     {fits, stamp + regexp.QuoteMeta(memlimit.Format(fits)) + `: [^\n]*so it is ignored\n$`},
	} {
		var out, line strings.Builder
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "MEMLIMIT_TEST_IMPORT=1", env)
		cmd.Stdout, cmd.Stderr = &out, &line
		if err := cmd.Run(); err != nil || out.String() != fmt.Sprint(want.bytes) || !regexp.MustCompile(want.line).MatchString(line.String()) {
			t.Errorf("%s: %v, a limit of %s, %q; want %d, %s", env, err, &out, &line, want.bytes, want.line)
		}
	}
}
