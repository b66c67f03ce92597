package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
)

// How large the programs for linux/amd64 may be. procfit-run, which is a part of every
// application's image, may be so large for no system.
const (
	largestTool = 36_000_000 // bytes
	largestRun  = 4_000_000
)

// small: procfit-run, from its archive and by the line that the pages have for a Dockerfile,
// starts a program where there is nothing else. No system's is larger than it may be.
func (r rehearsal) small(t *testing.T) {
	start := time.Now()
	dir := t.TempDir()
	files := r.unpack(t, dir, "procfit-run")
	slices.Sort(files)
	if want := []string{"LICENSE", "THIRD-PARTY-LICENSES.txt", "procfit-run"}; !slices.Equal(files, want) {
		t.Errorf("the archive has %q, expected %q", files, want)
	}
	program := filepath.Join(dir, "procfit-run")
	static(t, program)
	for _, built := range r.programs(t, "procfit-run", "*") {
		if f, err := os.Stat(built); err != nil || f.Size() > largestRun {
			t.Errorf("%s: %v, %d bytes, at most %d", built, err, f.Size(), largestRun)
		}
	}
	if alone := r.fileOf("procfit-run", "linux_amd64"); read(t, alone) != read(t, program) {
		t.Errorf("%s is not the program of the archive", alone)
	}

	root := machine(t)
	must.Write(t, filepath.Join(root, "procfit-run"), read(t, r.dockerfile(t)))
	must.OK(t, os.Chmod(filepath.Join(root, "procfit-run"), 0o755))
	shows(t, exec.Command("chroot", root, "/procfit-run", "--", "/bin/sh", "-c", "echo started"), "started\n")
	t.Logf("procfit-run: started a program after %v", time.Since(start).Round(10*time.Millisecond))
}

// addLine is the line for a Dockerfile, up to the file of a release.
var addLine = regexp.MustCompile(`(?m)^ADD --chmod=755 https://github\.com/procfit/procfit/releases/download/(v[^/]+)/(procfit-run_\S+) /procfit-run$`)

// dockerfile is the file that the line for a Dockerfile takes here.
func (r rehearsal) dockerfile(t *testing.T) string {
	t.Helper()
	m := addLine.FindStringSubmatch(read(t, filepath.Join(r.repository, "docs/how-to/install.md")))
	if m == nil || m[1] != version {
		t.Fatalf("docs/how-to/install.md has no line for a Dockerfile with %s: %q", version, m)
	}
	file := strings.ReplaceAll(m[2], "${TARGETARCH}", "amd64")
	if sums := read(t, filepath.Join(r.dist, "checksums.txt")); !strings.Contains(sums, "  "+file+"\n") {
		t.Errorf("checksums.txt is without %s", file)
	}
	return filepath.Join(r.dist, file)
}
