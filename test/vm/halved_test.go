package vm

import (
	"os"
	"testing"
	"time"

	"github.com/procfit/procfit/test/built"
)

// TestHalved of the library's memlimit, on cgroup v2: this machine may have the memory
// controller of v1. The emulated machine is slow, so that a period of the watch is fewer
// instructions than elsewhere.
func TestHalved(t *testing.T) {
	emulated(t, "amd64")
	there, env := built.Go(t, "../../maxprocs", alone, "test", "-c", "./memlimit"), ""
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
