package vm

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/procfit/procfit/test/built"
)

// TestHalved of the library's memlimit, on cgroup v2: this machine may have the memory
// controller of v1. The emulated machine is slow, so that a period of the watch is fewer
// instructions than elsewhere.
func TestHalved(t *testing.T) {
	emulated(t, "amd64")
	there, env := filepath.Join(t.TempDir(), "memlimit"), ""
	cmd := exec.Command("go", "test", "-c", "-o", there, "./memlimit")
	cmd.Dir = "../../maxprocs"
	built.Reads(t, cmd.Dir)
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOARCH=amd64")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if os.Getenv("PROCFIT_FULL") == "1" {
		env = "PROCFIT_REQUIRE=1 PROCFIT_FULL=1 "
	}
	output := Run(t, Machine{
		CPUs: 2, Cgroup: "v2", Files: map[string]string{"/memlimit": there}, Limit: 20 * time.Minute,
		Script: `
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
` + env + `/memlimit -test.run TestHalved -test.v
`})
	t.Log(output)
	check(t, output, "watch: 0 of ", " runs killed; ", "set: ", "--- PASS: TestHalved")
}
