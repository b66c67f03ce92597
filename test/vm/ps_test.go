package vm

import (
	"strings"
	"testing"
)

// What ps sees as root, as another user, behind Yama, into a container whose
// program was deleted, from within one, and into one that hides its limit. The targets are procfit's practice
// server under other names.
func TestPS(t *testing.T) {
	emulated(t, "amd64")
	output := Run(t, Machine{
		CPUs: 4, Cgroup: "v2", Files: map[string]string{"/procfit": build(t, "github.com/procfit/procfit/cmd/procfit")},
		Script: `
export NO_COLOR=1
mkdir /etc
echo 'ordinary:x:1000:1000::/tmp:/bin/sh' >/etc/passwd
cd /sys/fs/cgroup
echo +cpu >cgroup.subtree_control
mkdir pod
echo '150000 100000' >pod/cpu.max
echo +cpu >pod/cgroup.subtree_control
mkdir pod/app
for name in limited own boxed hidden; do cp /procfit /tmp/$name; chmod 755 /tmp/$name; done
await() { # LOG
	for i in $(seq 300); do grep -q Addr= /tmp/$1.log 2>/dev/null && return; sleep 0.1; done
	echo "$1 does not start"; cat /tmp/$1.log; exit 1
}
sh -c 'echo 0 >/sys/fs/cgroup/pod/app/cgroup.procs; exec env GOMAXPROCS=3 /tmp/limited lab serve cpuserver --addr 127.0.0.1:8001' 2>/tmp/limited.log &
cat >/tmp/own.sh <<'U'
GOMAXPROCS=2 exec /tmp/own lab serve cpuserver --addr 127.0.0.1:8002 2>/tmp/own.log
U
start-stop-daemon -S -b -c ordinary -x /bin/sh -- /tmp/own.sh
mkdir /sys/fs/cgroup/sandbox
echo '150000 100000' >/sys/fs/cgroup/sandbox/cpu.max
cat >/tmp/sandbox.sh <<'U'
echo 0 >/sys/fs/cgroup/sandbox/cgroup.procs
mount --bind /dev/null /proc/$$/mountinfo || exit 1
exec /tmp/hidden lab serve cpuserver --addr 127.0.0.1:8004
U
unshare -m sh /tmp/sandbox.sh 2>/tmp/hidden.log &
await limited; await own; await hidden

echo "== its mounts hidden"
/procfit explain $(pidof hidden)
kill $(pidof hidden)
echo "== root"
/procfit ps -o wide --interval 0
echo "== user, no Yama: $(cat /proc/sys/kernel/yama/ptrace_scope)"
cat >/tmp/ps.sh <<'U'
/procfit ps --interval 0 2>&1
/procfit ps --interval 0 -o json-lines 2>/dev/null
/procfit ps --interval 0 $(pidof limited) 2>&1
echo "code $?"
U
start-stop-daemon -S -c ordinary -x /bin/sh -- /tmp/ps.sh
echo 1 >/proc/sys/kernel/yama/ptrace_scope
echo "== user, Yama: $(cat /proc/sys/kernel/yama/ptrace_scope)"
start-stop-daemon -S -c ordinary -x /bin/sh -- /tmp/ps.sh

echo "== into a container"
mkdir /tmp/c
cat >/tmp/c.sh <<'U'
mount -t tmpfs none /tmp/c
mkdir -p /tmp/c/proc /tmp/c/bin /tmp/c/dev
mknod /tmp/c/dev/null c 1 3
cp /tmp/boxed /tmp/c/boxed
cp /procfit /tmp/c/procfit
cp /bin/busybox /tmp/c/bin/busybox
mount -t proc none /tmp/c/proc
exec chroot /tmp/c /bin/busybox sh -c '/boxed lab serve cpuserver --addr 127.0.0.1:8003 & /bin/busybox sleep 3; /bin/busybox rm /boxed; echo "== from within a container"; /procfit ps --interval 0 2>&1; echo "Addr= ready"; wait'
U
sh -c 'echo 0 >/sys/fs/cgroup/pod/app/cgroup.procs; exec unshare -m -p -f sh /tmp/c.sh' >/tmp/boxed.out 2>/tmp/boxed.log &
for i in $(seq 300); do grep -q 'Addr= ready' /tmp/boxed.out 2>/dev/null && break; sleep 0.1; done
cat /tmp/boxed.out /tmp/boxed.log
echo "== from outside"
/procfit ps --interval 0 -o json-lines $(pidof boxed)
`})
	check(t, output,
		"*3  → 2, limit 1.5 ", " env     decoded       4    1.5  pod", // as root; the build is stripped
		`PF001 warning: `,
		"could not be read (needs root or CAP_SYS_PTRACE): ",
		"code 3", "it is of user 0: run as that user or with CAP_SYS_PTRACE",
		`"procs":2,"procs_unknown":"process `, `"source":"inferred"`, "kernel.yama.ptrace_scope is 1: run with CAP_SYS_PTRACE",
		"the GOMAXPROCS of 1 process is inferred, not read; for one: ",
		`"name":"boxed"`)
	_, hidden, _ := strings.Cut(output, "== its mounts hidden")
	hidden, _, _ = strings.Cut(hidden, "== root")
	check(t, hidden, "PF010", "does not see the limit of /sys/fs/cgroup/sandbox", "uses all 4 CPUs")
	_, within, _ := strings.Cut(output, "== from within a container")
	within, outside, _ := strings.Cut(within, "== from outside")
	if !strings.Contains(within, "boxed") || strings.Contains(within, "limited") {
		t.Errorf("within the container:\n%s", within)
	}
	check(t, outside, `"source":"decoded"`, `"limit":1.5,"limit_of":"/sys/fs/cgroup/pod","limit_file":"/sys/fs/cgroup/pod/cpu.max"`)
}
