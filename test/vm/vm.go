// Package vm boots a Linux machine under software emulation and runs a script in
// it as root: for truth about machines that the tests' own is not, with 8 or 64
// CPUs, cgroup v2, v1 or both, nested limits. It shows what a program decides,
// never how fast it is.
//
// A machine is Debian's cloud kernel (kernel.sh fetches it, or
// PROCFIT_VM_KERNEL names one), and a root file system in memory with busybox
// and the files given. It needs no KVM, takes 5 to 15 seconds to boot, has no
// network and no disk, and is gone after the script.
package vm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
)

// Machine is what is booted.
type Machine struct {
	Arch   string // amd64 or arm64; empty: amd64
	CPUs   int
	SMT    int               // threads of a core; 0: one
	Nodes  int               // sockets with memory of their own, which share the CPUs and the memory evenly; 0: one
	Cgroup string            // v2, v1 (the cpu hierarchy alone) or hybrid (both, cpu on v1); empty: none mounted
	Files  map[string]string // paths there, such as /test, to files here; all executable
	Script string            // for busybox sh, as root
	Limit  time.Duration     // from power on to power off; 0 is bootLimit
	Memory int               // MiB; 0 is 1024
}

// bootLimit bounds a machine that does not say otherwise. Alone a machine takes 5 to
// 40 seconds; on two CPUs that other tests use too it takes three times as long.
const bootLimit = 4 * time.Minute

// memory is in MiB.
func (m Machine) memory() int { return cmp.Or(m.Memory, 1024) }

// nodes are the emulator's arguments for several.
func (m Machine) nodes() (args []string) {
	if m.Nodes < 2 {
		return nil
	}
	each := m.CPUs / m.Nodes
	for n := range m.Nodes {
		args = append(args, "-object", fmt.Sprintf("memory-backend-ram,id=mem%d,size=%dM", n, m.memory()/m.Nodes),
			"-numa", fmt.Sprintf("node,nodeid=%d,memdev=mem%d,cpus=%d-%d", n, n, n*each, (n+1)*each-1))
	}
	return args
}

// mounts is how each arrangement is made. The kernel gives a controller to the
// hierarchy that is mounted with it; v2 has the rest.
var mounts = map[string]string{
	"":       "",
	"v2":     "mount -t cgroup2 none /sys/fs/cgroup\n",
	"v1":     "mount -t tmpfs none /sys/fs/cgroup && mkdir /sys/fs/cgroup/cpu && mount -t cgroup -o cpu none /sys/fs/cgroup/cpu\n",
	"hybrid": "mount -t tmpfs none /sys/fs/cgroup && mkdir /sys/fs/cgroup/cpu /sys/fs/cgroup/unified && mount -t cgroup -o cpu none /sys/fs/cgroup/cpu && mount -t cgroup2 none /sys/fs/cgroup/unified\n",
}

const (
	beginMark = "=== procfit vm begin"
	endMark   = "=== procfit vm end "
)

const initScript = `#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev; mount -t tmpfs -o mode=1777 none /tmp
ln -s /proc/self/fd /dev/fd
ip link set lo up
[ -c /dev/ttyS1 ] && (while echo; do sleep 1; done >/dev/ttyS1) &
sh /mounts || echo "cannot mount the cgroups"
echo; echo '` + beginMark + `'
sh /script
echo "` + endMark + `$?"
poweroff -f
`

// Run boots the machine, runs the script and returns what it printed. A script
// that fails, or never ends, fails the test with that.
func Run(t testing.TB, m Machine) string {
	t.Helper()
	hw := hardwareOf(t, m)
	mount, ok := mounts[m.Cgroup]
	if !ok {
		t.Fatalf("no cgroup arrangement %q, only %v", m.Cgroup, slices.Sorted(maps.Keys(mounts)))
	}
	initrd := filepath.Join(t.TempDir(), "initrd")
	must.OK(t, os.WriteFile(initrd, root(t, m, mount, hw.busybox), 0o644))
	if m.SMT > 1 {
		hw.args = append(hw.args, "-cpu", "max,vendor=GenuineIntel") // of the other vendor the emulator has no threads
	}
	hw.args = append(hw.args, m.nodes()...)
	limit := cmp.Or(m.Limit, bootLimit)
	// One thread emulates the CPUs in turn. With a thread for each, CPUs wait for locks of
	// the kernel whose holder does not run here: 8 CPUs then use twice the CPU time and end
	// no sooner, and 64 take minutes for what takes seconds.
	args := append(hw.args, "-accel", "tcg,thread=single", "-smp", fmt.Sprintf("%d,sockets=%d,threads=%d", max(1, m.CPUs), max(1, m.Nodes), max(1, m.SMT)), "-m", strconv.Itoa(m.memory()),
		"-kernel", hw.kernel, "-initrd", initrd, "-append", hw.append+" quiet panic=-1 mitigations=off cgroup_no_v1=none",
		"-display", "none", "-monitor", "none", "-no-reboot", "-nic", "none", "-serial", "stdio")
	var output string
	var err error
	for range maxBoots {
		if output, err = boot(t, hw, args, limit); !errors.Is(err, errHung) {
			break
		}
		t.Logf("%v; it is booted again. Its last words: %s", err, output[max(0, len(output)-1000):])
	}
	_, inside, begun := strings.Cut(output, beginMark+"\n")
	inside, rest, ended := strings.Cut(inside, endMark)
	code, _, _ := strings.Cut(rest, "\n")
	switch {
	case err != nil || !begun || !ended:
		t.Fatalf("the machine did not run the script to its end (%v): %s", err, output)
	case code != "0":
		t.Fatalf("the script failed with code %s:\n%s", code, inside)
	}
	return inside
}

// maxBoots bounds how often a machine is started that hangs.
const maxBoots = 3

// silence is how long a machine may be without a heartbeat, in which its kernel
// runs a shell's loop once a second, until it counts as hung. On a busy host with
// many emulated CPUs beats come late by a few seconds.
const silence = 40 * time.Second

// firstBeat is how long its boot may take before the first beat: 64 emulated CPUs on
// two busy ones take more than silence.
const firstBeat = 2 * time.Minute

// errHung means that the machine as a whole stood still, its kernel too: an emulator
// can lose an interrupt between its CPUs, seldom. No program in the machine can do
// that; one that does not end leaves the heartbeat going, and is a failure.
var errHung = errors.New("the emulated machine stood still")

func boot(t testing.TB, hw hardware, args []string, limit time.Duration) (string, error) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit, fmt.Errorf("not at its end after %v", limit))
	defer cancel()
	ctx, hung := context.WithCancelCause(ctx)
	defer hung(nil)
	pulse := filepath.Join(t.TempDir(), "pulse")
	if hw.pulse {
		args = append(args, "-serial", "file:"+pulse)
	}
	cmd := exec.CommandContext(ctx, hw.qemu, args...)
	var console bytes.Buffer
	cmd.Stdout, cmd.Stderr = &console, &console
	go func() {
		beats, last := int64(0), time.Now()
		for hw.pulse && ctx.Err() == nil {
			time.Sleep(time.Second)
			patience := silence
			if beats == 0 {
				patience = firstBeat
			}
			if now, err := os.Stat(pulse); err == nil && now.Size() != beats {
				beats, last = now.Size(), time.Now()
			} else if time.Since(last) > patience {
				hung(errHung)
			}
		}
	}()
	err := cmd.Run()
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return strings.ReplaceAll(console.String(), "\r", ""), err
}

func root(t testing.TB, m Machine, mount string, busybox []byte) []byte {
	t.Helper()
	var a archive
	for _, dir := range []string{"bin", "dev", "proc", "sys", "tmp"} {
		a.dir(dir)
	}
	a.file("bin/busybox", busybox)
	a.file("init", []byte(initScript))
	a.file("mounts", []byte(mount))
	a.file("script", []byte(m.Script))
	for _, there := range slices.Sorted(maps.Keys(m.Files)) {
		a.file(strings.TrimPrefix(there, "/"), must.Get(os.ReadFile(m.Files[there]))(t))
	}
	a.entry("TRAILER!!!", 0, nil)
	return a.Bytes()
}

// archive is an initramfs: cpio in the "newc" form
// (Documentation/driver-api/early-userspace/buffer-format.rst). It is not compressed:
// an emulated CPU would take a second to unpack it. Everything in it belongs to root.
type archive struct {
	bytes.Buffer
	inode int
	dirs  []string
}

// dir adds a directory, and those above it.
func (a *archive) dir(name string) {
	if name == "." || name == "/" || slices.Contains(a.dirs, name) {
		return
	}
	a.dir(path.Dir(name))
	a.dirs = append(a.dirs, name)
	const directory = 0o040000
	a.entry(name, directory|0o755, nil)
}

// file adds an executable file.
func (a *archive) file(name string, data []byte) {
	a.dir(path.Dir(name))
	const regular = 0o100000
	a.entry(name, regular|0o755, data)
}

func (a *archive) entry(name string, mode uint32, data []byte) {
	a.inode++
	const links = 1
	fmt.Fprintf(a, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		a.inode, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(name)+1, 0)
	for _, part := range [][]byte{append([]byte(name), 0), data} {
		a.Write(part)
		a.Write(make([]byte, -a.Len()&3)) // up to a multiple of four bytes
	}
}
