package maxprocs

import (
	"math/bits"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
	"github.com/procfit/procfit/maxprocs/internal/gort"
)

// findLimits reads the limits of the program's own group and of all above it,
// each file once.
func findLimits(root string) limits {
	var room struct { // enough for every name and file of most systems
		path [512]byte
		buf  [4096]byte
	}
	r := reader{root: root, path: room.path[:0], buf: room.buf[:]}
	var found limits
	b, err := r.read("/proc/self", "cgroup")
	if err == syscall.ENOENT {
		return r.noGroup()
	} else if err != nil {
		return found.miss(unread("/proc/self/cgroup", err))
	}
	member, err := cgfs.ParseMembership(string(b), cgfs.CPU)
	if err != nil {
		return found.miss(malformed("/proc/self/cgroup", err))
	} else if member.Version == 0 {
		return found
	}
	return r.findGroup(member)
}

const mountinfo = "/proc/self/mountinfo"

// findGroup reads no more mounts than it must. Of several that show the whole
// hierarchy the first counts, and what comes after it may only be one of a group
// above the cgroup namespace: above the first namespace there is none.
func (r *reader) findGroup(member cgfs.Membership) (found limits) {
	var mounts []cgfs.Mount
	var bad error
	var own, top string
	err := r.lines("/proc/self", "mountinfo", func(text []byte) bool {
		if text = fromCgroups(text); len(text) == 0 {
			return false
		}
		some, malformed := cgfs.ParseMountinfo(string(text))
		if bad == nil {
			bad = malformed
		}
		if mounts == nil {
			mounts = some
		} else {
			mounts = append(mounts, some...)
		}
		for _, m := range member.Showing(some) {
			if dir, _ := m.Dir(member.Path); own == "" && m.Root == "/" && r.look(dir, "cgroup.procs") == nil {
				own, top = dir, m.Point
				return r.inFirstNamespace()
			}
		}
		return false
	})
	if err != nil {
		return found.miss(unread(mountinfo, err))
	} else if own != "" {
		return r.readAbove(r.readUp(member.Version, own, top), member, mounts)
	}
	var denied *fault
	for _, m := range member.Showing(mounts) {
		dir, _ := m.Dir(member.Path)
		if err := r.look(dir, "cgroup.procs"); err == nil {
			found = r.readUp(member.Version, dir, m.Point)
			return r.readAbove(found, member, mounts)
		} else if err != syscall.ENOENT {
			denied = unread(dir, err)
		}
	}
	if denied == nil {
		denied = notShown(member, mounts, bad)
	}
	return r.readAbove(found.miss(denied), member, mounts)
}

// inFirstNamespace reports whether the program is in the cgroup namespace that the
// kernel began with, by its number (PROC_CGROUP_INIT_INO in linux/proc_ns.h).
func (r *reader) inFirstNamespace() bool {
	const first = "cgroup:[4026531835]"
	return string(r.readLink("/proc/self/ns", "cgroup", len(first)+1)) == first
}

// fromCgroups is the text from the first line on that may be a mount of cgroups:
// most lines are none, and need no copy.
func fromCgroups(text []byte) []byte {
	const mark = " - cgroup"
	line := 0
	for i, c := range text {
		switch {
		case c == '\n':
			line = i + 1
		case c == '-' && i > 0 && i+len(mark)-1 <= len(text) && string(text[i-1:i-1+len(mark)]) == mark:
			return text[line:]
		}
	}
	return nil
}

func notShown(member cgfs.Membership, mounts []cgfs.Mount, bad error) *fault {
	if bad != nil {
		return malformed(mountinfo, bad)
	}
	for _, m := range mounts {
		if m.Version == member.Version && (m.Version == 2 || m.CPU) {
			return &fault{ErrHidden, mountinfo, cgfs.Error("no mount shows the cgroup " + member.Path)}
		}
	}
	return &fault{ErrNoCgroup, mountinfo, cgfs.Error("no mount of cgroup v" + cgfs.Itoa(member.Version) + ", which the program is in")}
}

// noGroup is what is known without /proc/self/cgroup. A kernel without cgroups
// has /proc all the same, and no cgroup mount; where /proc itself is not to be
// seen, as in a chroot, nothing is known.
func (r *reader) noGroup() (found limits) {
	some := false
	err := r.lines("/proc/self", "mountinfo", func(text []byte) bool {
		mounts, bad := cgfs.ParseMountinfo(inPlace(text))
		some = len(mounts) > 0 || bad != nil
		return some
	})
	missing := cgfs.Error("missing, although cgroups are mounted")
	if err != nil {
		missing = "missing: /proc is not mounted here"
	} else if !some {
		return found
	}
	return found.miss(unread("/proc/self/cgroup", missing))
}

// readAbove reads the limits of the groups above the program's cgroup namespace,
// as far as mounts of before show them.
func (r *reader) readAbove(found limits, member cgfs.Membership, mounts []cgfs.Mount) limits {
	for _, m := range member.Above(mounts) {
		if r.look(m.Point, "cgroup.procs") == nil {
			found.take(r, member.Version, m.Point)
		}
	}
	return found
}

func (l limits) miss(f *fault) limits {
	l.unknown = l.unknown.with(f)
	return l
}

func (r *reader) readUp(version int, dir, top string) (found limits) {
	for leaf := true; ; leaf = false {
		cpus := found.take(r, version, dir)
		if leaf {
			found.leaf = cpus
			found.blind = cpus > 0 && !r.runtimeReads(dir, limitFile(version))
		}
		if dir == top || dir == "/" {
			return found
		}
		dir = cgfs.Parent(dir)
	}
}

func limitFile(version int) string {
	if version == 1 {
		return "cpu.cfs_quota_us"
	}
	return "cpu.max"
}

// runtimeReads reports whether the runtime reads this file of the program's own cgroup.
// From Go 1.25 on it opens the file at the start and keeps it open, unless
// containermaxprocs=0 or it did not find the cgroup (runtime/cgroup_linux.go). Its value
// proves nothing: on two CPUs, a limit of one gives 2 whether it reads the file or not.
func (r *reader) runtimeReads(dir, file string) (reads bool) {
	own, err := r.open(dir, file)
	if err != nil || !gort.HasDefault {
		return false
	}
	defer syscall.Close(own)
	var limit, other syscall.Stat_t
	if syscall.Fstat(own, &limit) != nil {
		return false
	}
	left := firstFiles
	eachNumber("/proc/self/fd", func(fd int) (enough bool) {
		reads = fd != own && syscall.Fstat(fd, &other) == nil && other.Dev == limit.Dev && other.Ino == limit.Ino
		left--
		return reads || left == 0
	})
	return reads
}

// firstFiles bounds the search of a program with many files. The runtime opens its file
// before any other code of the program runs: only inherited files have lower numbers.
const firstFiles = 1024

// take reads the group's limit, and keeps it where it is the tightest.
func (l *limits) take(r *reader, version int, dir string) (cpus float64) {
	name := limitFile(version)
	cpus, why := r.readLimit(version, dir, name)
	switch {
	case why != nil:
		*l = l.miss(why)
	case cpus > 0 && (l.cpus == 0 || cpus < l.cpus):
		l.cpus, l.file = cpus, cgfs.Join(dir, name)
	}
	return cpus
}

// readLimit is 0 where there is no limit, or no such file: in the hierarchy's
// root, in a group without the controller, in a kernel without quotas.
func (r *reader) readLimit(version int, dir, name string) (cpus float64, why *fault) {
	b, err := r.read(dir, name)
	if err == syscall.ENOENT {
		return 0, nil
	} else if err != nil {
		return 0, unread(cgfs.Join(dir, name), err)
	}
	switch {
	case version == 2:
		cpus, _, err = cgfs.ParseCPUMax(inPlace(b))
	case len(b) > 0 && b[0] == '-': // no limit has no need of its period
		_, _, err = cgfs.ParseCFS(inPlace(b), "")
	default:
		const period = "cpu.cfs_period_us"
		quota := string(b)
		if b, err = r.read(dir, period); err != nil {
			return 0, unread(cgfs.Join(dir, period), err)
		}
		cpus, _, err = cgfs.ParseCFS(quota, inPlace(b))
	}
	if err != nil {
		return 0, malformed(cgfs.Join(dir, name), err)
	}
	return cpus, nil
}

// cpuMask has room for 8192 CPUs, which is what the largest kernels know.
type cpuMask [128]uint64

func (m *cpuMask) add(tid int) {
	var own cpuMask
	n, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY,
		uintptr(tid), unsafe.Sizeof(own), uintptr(unsafe.Pointer(&own[0])))
	if errno != 0 || n > unsafe.Sizeof(own) {
		return
	}
	for i, word := range own[:(n+7)/8] {
		m[i] |= word
	}
}

func (m *cpuMask) count() (cpus int) {
	for _, word := range m {
		cpus += bits.OnesCount64(word)
	}
	return cpus
}

// affinity is the number of CPUs that the program may run on at present;
// runtime.NumCPU is that of the start. Where the main thread's mask is another
// than then, it need not stand for the program: a thread that was pinned by itself
// leaves the others where they were.
func affinity() int {
	var mask cpuMask
	mask.add(syscall.Getpid())
	if mask.count() != runtime.NumCPU() {
		eachThread(mask.add)
	}
	if cpus := mask.count(); cpus > 0 {
		return cpus
	}
	return runtime.NumCPU()
}

func eachThread(f func(tid int)) {
	eachNumber("/proc/self/task", func(tid int) bool {
		f(tid)
		return false
	})
}

// eachNumber calls f with each number that is a name in the folder, as the IDs of the
// threads of a process are, until f says that it is enough.
func eachNumber(dir string, f func(n int) (enough bool)) {
	fd, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer syscall.Close(fd)
	var buf [2048]byte
	for {
		n, err := syscall.ReadDirent(fd, buf[:])
		if err == syscall.EINTR {
			continue
		} else if n <= 0 || err != nil {
			return
		}
		for entries := buf[:n]; len(entries) > dirName; {
			length := int(*(*uint16)(unsafe.Pointer(&entries[dirLength])))
			number, digits := 0, 0
			for _, c := range entries[dirName:] {
				if c < '0' || c > '9' {
					break
				}
				number, digits = 10*number+int(c-'0'), digits+1
			}
			if digits > 0 && f(number) { // and not . or ..
				return
			}
			if length <= dirName || length > len(entries) {
				return
			}
			entries = entries[length:]
		}
	}
}

// Where an entry of a directory has its length and its name, in bytes (struct
// linux_dirent64, man 2 getdents64).
const (
	dirLength = 16
	dirName   = 19
)
