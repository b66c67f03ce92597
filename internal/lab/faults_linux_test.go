package lab

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestFaults runs what docs/evidence/articles.md says against the documents: the sweep script, the
// listings that do not compile, SetMaxThreads.
func TestFaults(t *testing.T) {
	built.Dir(t, "testdata/documents") // opened here, so that go test runs this again if one changes
	const script = `set -euo pipefail; for n in 1 2 4; do sleep 60 & kill $!; wait $! 2>/dev/null; echo $n done; done`
	for name, tc := range map[string]struct {
		command []string
		code    int
		prints  []string
		never   string
	}{
		"the sweep script": {[]string{"bash", "-c", script}, 143, []string{""}, "done"},
		"SetMaxThreads": {[]string{"go", "run", "./testdata/documents/maxthreads"}, 1,
			[]string{"runtime: program exceeds 8-thread limit", "fatal error: thread exhaustion"}, "still here"},
		"benchmarks": {[]string{"go", "test", "-run", "^$", "-bench", ".", "-benchtime", "16x", "-cpu", "3", "./testdata/documents/benchmark"}, 0,
			[]string{"named 1, b.N 1: ran with 1\n", "named 1, b.N 16: ran with 3\n", "named 2, b.N 16: ran with 3\n", "named 4, b.N 16: ran with 3\n", "named 8, b.N 16: ran with 3\n", "named 16, b.N 16: ran with 3\n"},
			"b.N 16: ran with 1"},
		"scheduling overhead": {[]string{"go", "build", "./testdata/documents/overhead"}, 1, []string{`overhead/main.go:9:2: "time" imported and not used`}, ""},
		"I/O-bound":           {[]string{"go", "build", "./testdata/documents/iobound"}, 1, []string{`iobound/main.go:12:2: "time" imported and not used`}, ""},
		"tunable application": {[]string{"go", "build", "./testdata/documents/tunable"}, 1, []string{`tunable/main.go:8:2: "os" imported and not used`}, ""},
	} {
		cmd := exec.Command(need.Command(t, tc.command[0]), tc.command[1:]...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != tc.code {
			t.Errorf("%s: exit code %d, want %d: %s", name, code, tc.code, out)
		}
		for _, line := range tc.prints {
			if !strings.Contains(string(out), line) {
				t.Errorf("%s: %q is not in what it prints: %s", name, line, out)
			}
		}
		if tc.never != "" && strings.Contains(string(out), tc.never) {
			t.Errorf("%s prints %q", name, out)
		}
	}
}

// TestParallelListingComputesNothing: the result of document 000's work is thrown
// away, and the compiler leaves a loop that counts.
func TestParallelListingComputesNothing(t *testing.T) {
	built.Dir(t, "testdata/documents/parallel")
	out := must.Output(t, exec.Command(need.Command(t, "go"), "build", "-gcflags=-S", "-o", os.DevNull, "./testdata/documents/parallel"))
	_, body, found := strings.Cut(out, "main.cpuWork STEXT")
	body, _, ended := strings.Cut(body, "STEXT")
	if !found || !ended || !strings.Contains(body, "TEXT\tmain.cpuWork") {
		t.Fatalf("no code of cpuWork in %s", out)
	}
	for line := range strings.Lines(body) {
		if fields := strings.Fields(line); len(fields) > 3 && strings.Contains(fields[3], "MUL") {
			t.Errorf("it multiplies: %s", line)
		}
	}
}
