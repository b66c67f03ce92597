package vm

import (
	"testing"
)

// A whole sweep on v2 with 8 CPUs: the default setting's default follows the quota
// (3 of 2.5 CPUs), which shows that the target was in its cgroup before exec, and
// the accounting is that of the group.
func TestSweepV2(t *testing.T) {
	emulated(t, "amd64")
	procfit := build(t, "github.com/procfit/procfit/cmd/procfit")
	output := Run(t, Machine{
		CPUs: 8, Cgroup: "v2", Files: map[string]string{"/procfit": procfit},
		Script: `
ip link set lo up
/procfit sweep --limit 2.5 --procs default,16 --repeats 1 --trial-time 4s,warmup=500ms --connections 4 --rate 20 --max-errors 50% --timeout ready=60s --out /tmp/out || exit 1
grep -o '"label":"[a-z0-9]*","procs":[a-z0-9]*,"quota_cpus":2.5.*"observed_procs":\[[0-9]*\]' /tmp/out/journal.jsonl
grep -o '"cgroup":{"periods":[1-9][0-9]*' /tmp/out/journal.jsonl
echo "== left: $(find /sys/fs/cgroup -name 'procfit-*' ! -name 'procfit-self-*' | wc -l)"
`})
	check(t, output,
		`"label":"default","procs":null,"quota_cpus":2.5,"replicas":1},"role":"measure"`, `"observed_procs":[3]`,
		`"observed_procs":[16]`, `"cgroup":{"periods":`, "== left: 0")
}
