package vm

import (
	"testing"
)

// On two sockets of a core of two threads, each socket with memory of its own, the
// kernel's own files are read: the journal has the topology, a target that spans both
// nodes is warned of, and CPUs have names.
func TestNodes(t *testing.T) {
	emulated(t, "amd64")
	procfit := build(t, "github.com/procfit/procfit/cmd/procfit")
	output := Run(t, Machine{
		CPUs: 4, SMT: 2, Nodes: 2, Cgroup: "v2", Files: map[string]string{"/procfit": procfit},
		Script: `
/procfit sweep --any-program --repeats 1 --procs 1 --trial-time 100ms --out /tmp/out -- /bin/busybox true 2>/tmp/err || cat /tmp/err
/procfit sweep --dry-run --cpus target=node1,load=cores -- /bin/busybox true 2>&1
head -n 1 /tmp/out/journal.jsonl | grep -o '"topology":{[^}]*}[^}]*}[^}]*}'
grep 'NUMA node' /tmp/out/RESULTS.md
`})
	check(t, output,
		`"topology":{"sockets":2,"cores":2,"threads_per_core":2,"nodes":[{"id":0,"cpu_list":"0-1"},{"id":1,"cpu_list":"2-3"}]}`,
		"--cpus target=node1: CPUs 2-3\n", "--cpus load=cores: CPUs 0,2\n",
		"the target's CPUs are on 2 NUMA nodes (node0: 0-1; node1: 2-3)",
		"| Topology | 2 sockets; 2 cores of 2 threads; 2 NUMA nodes (node0: 0-1; node1: 2-3) |",
	)
}
