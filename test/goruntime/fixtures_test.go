package goruntime

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
)

// left are Go's own tests that ask nothing of a policy: how a file is read in parts.
var left = []string{"TestLineReader", "FuzzLineReader"}

// TestOfGo runs Go's own tests of the search and of the limit's text against the
// policy, as they lie in the GOROOT of a release of each code.
func TestOfGo(t *testing.T) {
	built.Dir(t, "../../maxprocs") // which the adapters use: go test does not see that the go command reads it
	library := must.Get(filepath.Abs("../../maxprocs"))(t)
	for release, names := range map[string]string{"1.25.14": "go125.txt", "1.26.8": "go126.txt"} {
		if !taken(t, release) {
			continue
		}
		t.Run(release, func(t *testing.T) {
			src, dir := filepath.Join(goroot(t, release), "src/internal/runtime/cgroup"), t.TempDir()
			tests, err := filepath.Glob(filepath.Join(src, "cgroup*_test.go"))
			if err != nil || len(tests) == 0 {
				t.Fatalf("no tests in %s: %v", src, err)
			}
			for _, name := range tests {
				text := strings.ReplaceAll(must.Read(t, name), `"internal/runtime/cgroup"`, `"adapter/cgroup"`)
				must.Write(t, filepath.Join(dir, "cgroup", filepath.Base(name)), text)
			}
			must.Write(t, filepath.Join(dir, "go.mod"), "module adapter\n\ngo 1.25\n\nrequire github.com/procfit/procfit/maxprocs v0.0.0\n\nreplace github.com/procfit/procfit/maxprocs => "+library+"\n")
			must.Write(t, filepath.Join(dir, "cgroup/policy.go"), must.Read(t, "testdata/adapter/policy.go"))
			must.Write(t, filepath.Join(dir, "cgroup/names.go"), must.Read(t, filepath.Join("testdata/adapter", names)))
			must.Write(t, filepath.Join(dir, "cgroup/release.go"), "package cgroup\n\nconst release = \""+release+"\"\n")
			out := run(t, dir, "go", "test", "-v", "-skip", strings.Join(left, "|"), "./cgroup")
			if n := strings.Count(out, "--- PASS"); n < 40 {
				t.Errorf("only %d of Go's tests pass:\n%s", n, out)
			} else {
				t.Logf("%d of Go's tests pass", n)
			}
		})
	}
}
