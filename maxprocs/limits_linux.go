package maxprocs

import (
	"math/bits"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

// findLimits reads the limits of the program's own group and of all above it,
// each file once.
func findLimits(root string) limits {
	var path [512]byte // enough for every name and file of most systems
	var buf [4096]byte
	r := reader{root: root, path: path[:0], buf: buf[:]}
	var found limits
	b, err := r.read("/proc/self", "cgroup")
	if err == syscall.ENOENT {
		return found // there are no cgroups
	} else if err != nil {
		return found.miss("/proc/self/cgroup: " + err.Error())
	}
	member, err := cgfs.ParseProcCgroup(string(b))
	if err != nil {
		return found.miss("/proc/self/cgroup: " + err.Error())
	} else if member.Version == 0 {
		return found
	}
	b, err = r.read("/proc/self", "mountinfo")
	if err != nil {
		return found.miss("/proc/self/mountinfo: " + err.Error())
	}
	mounts, bad := cgfs.ParseMountinfo(string(b))
	for _, m := range member.Showing(mounts) {
		if dir, _ := m.Dir(member.Path); r.exists(dir, "cgroup.procs") {
			return r.readUp(member.Version, dir, m.Point)
		}
	}
	if bad != nil {
		return found.miss("/proc/self/mountinfo: " + bad.Error())
	}
	return found.miss("no mount in /proc/self/mountinfo shows the group " + member.Path)
}

func (l limits) miss(what string) limits {
	if l.unknown != "" {
		what = l.unknown + "; " + what
	}
	l.unknown = what
	return l
}

// readUp reads the groups from dir up to the mount point.
func (r *reader) readUp(version int, dir, top string) (found limits) {
	name := "cpu.max"
	if version == 1 {
		name = "cpu.cfs_quota_us"
	}
	for leaf := true; ; leaf = false {
		cpus, why := r.readLimit(version, dir, name)
		switch {
		case why != "":
			found = found.miss(cgfs.Join(dir, name) + ": " + why)
		case cpus > 0 && (found.cpus == 0 || cpus < found.cpus):
			found.cpus, found.file = cpus, cgfs.Join(dir, name)
		}
		if leaf {
			found.leaf = cpus
		}
		if dir == top || dir == "/" {
			return found
		}
		dir = cgfs.Parent(dir)
	}
}

// readLimit is 0 where there is no limit, or no such file: in the hierarchy's
// root, in a group without the controller, in a kernel without quotas.
func (r *reader) readLimit(version int, dir, name string) (cpus float64, why string) {
	b, err := r.read(dir, name)
	if err == syscall.ENOENT {
		return 0, ""
	} else if err != nil {
		return 0, err.Error()
	}
	switch {
	case version == 2:
		cpus, _, err = cgfs.ParseCPUMax(inPlace(b))
	case len(b) > 0 && b[0] == '-': // no limit has no need of its period
		_, _, err = cgfs.ParseCFS(inPlace(b), "")
	default:
		quota := string(b)
		if b, err = r.read(dir, "cpu.cfs_period_us"); err != nil {
			return 0, "its period: " + err.Error()
		}
		cpus, _, err = cgfs.ParseCFS(quota, inPlace(b))
	}
	if err != nil {
		return 0, err.Error()
	}
	return cpus, ""
}

// affinity is the number of CPUs in the present mask of this process's main
// thread; runtime.NumCPU is that of the start.
func affinity() int {
	var mask [1024]uint64 // for 65536 CPUs; the largest kernels know 8192
	n, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY,
		uintptr(syscall.Getpid()), unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask[0])))
	if errno != 0 || n > unsafe.Sizeof(mask) {
		return runtime.NumCPU()
	}
	cpus := 0
	for _, word := range mask[:(n+7)/8] {
		cpus += bits.OnesCount64(word)
	}
	if cpus == 0 {
		return runtime.NumCPU()
	}
	return cpus
}
