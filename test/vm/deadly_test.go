package vm

import (
	"fmt"
	"strings"
	"testing"
)

// TestDeadlyLimits: what procfit says that a runtime dies of, real ones die of, and
// what it names as the fix is one. The kernel takes a ratio beyond an int32; a
// period of 0 is shown by old kernels alone, so a file stands for the limit there.
func TestDeadlyLimits(t *testing.T) {
	emulated(t, "amd64")
	var alive, dead []string
	for _, program := range factors[fProgram].values {
		c := cellOf(map[int]string{fProgram: program})
		if c.readsLimits() {
			dead = append(dead, programPath(program))
		} else {
			alive = append(alive, programPath(program))
		}
	}
	output := Run(t, Machine{
		CPUs: 8, Cgroup: "v2", Files: buildPrograms(t),
		Script: fmt.Sprintf(`
cd /sys/fs/cgroup
echo +cpu >cgroup.subtree_control
mkdir huge zero
echo '17592186044415 1000' >huge/cpu.max
echo '150000 0' >/tmp/zero
cat >/tmp/try <<'U'
export NO_COLOR=1
group=$1
echo 0 >/sys/fs/cgroup/$group/cgroup.procs
try() { # NAME PROGRAM
	: >/tmp/out.$group # or the one before is read
	timeout 30 $2 >/tmp/out.$group 2>&1 &
	for i in $(seq 300); do grep -q . /tmp/out.$group && break; sleep 0.1; done
	echo "$group $1$2: $(grep -m 1 . /tmp/out.$group)"
	kill $! 2>/dev/null
}
for p in %s; do try '' $p; done
GOMAXPROCS=3; export GOMAXPROCS
try env %s
unset GOMAXPROCS
sleep 1000 &
echo 0 >/sys/fs/cgroup/cgroup.procs # or procfit dies too
for go in 1.24 1.25.14 1.26 1.27.1; do echo "$group go $go: $(/procfit explain $! --go $go --policy go | head -n 1)"; done
/procfit explain $! --go 1.26
kill $!
U
sh /tmp/try huge
unshare -m sh -c 'mount --bind /tmp/zero /sys/fs/cgroup/zero/cpu.max && sh /tmp/try zero'
`, strings.Join(append(alive, dead...), " "), dead[0])})
	for _, group := range []string{"huge", "zero"} {
		for _, p := range dead {
			check(t, output, group+" "+p+": fatal error: procresize: invalid arg")
		}
		for _, p := range alive {
			check(t, output, group+" "+p+": 8 8")
		}
		check(t, output, group+" env"+dead[0]+": 3 8")
		for go1, want := range map[string]string{"1.24": "chooses 8", "1.25.14": "crashes at start", "1.26": "crashes at start", "1.27.1": "crashes at start"} {
			if _, line, _ := strings.Cut(output, group+" go "+go1+": "); !strings.Contains(strings.SplitN(line, "\n", 2)[0], want) {
				t.Errorf("in %s Go %s: no %q in:\n%s", group, go1, want, output)
			}
		}
	}
	// Where its timer is late, as in an emulator, the kernel doubles quota and period.
	check(t, output, "will crash at start because of the limit of its cgroup", "PF014 error: the runtime of go1.26 crashes at start because of /sys/fs/cgroup/huge/cpu.max: \"", "→ set GOMAXPROCS=8 in its environment: the runtime then computes no default")
}
