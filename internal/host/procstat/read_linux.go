//go:build !portable

package procstat

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/cpuset"
)

// ReadStat reads /proc/PID/stat.
func ReadStat(pid int) (Stat, error) {
	b := stats.Get().(*[1024]byte)
	defer stats.Put(b)
	text, err := readInto(b[:], "/proc/"+strconv.Itoa(pid)+"/stat")
	if err != nil {
		return Stat{}, err
	}
	return ParseStat(text)
}

// stats are for /proc/PID/stat, of which a scan reads thousands.
var stats = sync.Pool{New: func() any { return new([1024]byte) }}

// ReadCPUTime reads the CPU time of all threads of a process, ended ones included, in
// nanoseconds: the clock of clock_getcpuclockid(3), where /proc/PID/stat counts in 10 ms.
func ReadCPUTime(pid int) (time.Duration, error) {
	const scheduled = 2 // CPUCLOCK_SCHED of include/linux/posix-timers.h, in the lowest 3 bits
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &ts); err != nil {
		return 0, fmt.Errorf("CPU time of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}

// ThreadGroup returns the process that a thread belongs to. /proc has a directory
// for every thread, though it lists the processes alone.
func ThreadGroup(tid int) (pid int, err error) {
	b, err := readOnce("/proc/" + strconv.Itoa(tid) + "/status")
	if err != nil {
		return 0, err
	}
	n, err := statusField(b, "Tgid")
	return int(n), err
}

// ReadTracing reads /proc/TID/status.
func ReadTracing(tid int) (Tracing, error) {
	b, err := readOnce("/proc/" + strconv.Itoa(tid) + "/status")
	if err != nil {
		return Tracing{}, err
	}
	return parseTracing(b)
}

// ReadMemory reads /proc/PID/status.
func ReadMemory(pid int) (Memory, error) {
	b, err := readOnce("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return Memory{}, err
	}
	return parseMemory(b)
}

// longestFile is more than the status of a process has that is in as many groups as
// Linux allows, 65,536; in bytes.
const longestFile = 1 << 20

// readOnce reads a file of less than 4 KiB in three system calls, which os.ReadFile
// does in six: a process of 5,000 threads has 10,000 such files. Only status can be
// longer: it lists the groups that the process is in.
func readOnce(name string) ([]byte, error) { return readInto(make([]byte, 4096), name) }

// readInto is readOnce with a buffer for most of such files.
func readInto(b []byte, name string) ([]byte, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	n := 0
	for {
		got, err := unix.Read(fd, b[n:])
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: name, Err: err}
		}
		if n += got; n < len(b) || n >= longestFile {
			return b[:n], nil
		}
		b = append(b, make([]byte, len(b))...)
	}
}

// ReadCPU reads the CPU time of those CPUs, of all when none is named.
func ReadCPU(cpus ...int) (CPU, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return CPU{}, err
	}
	return parseCPU(b, cpus)
}

// readTask reads the counters of one thread.
func readTask(pid, tid int) (counters, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid)
	status, err := readOnce(dir + "/status")
	if err != nil {
		return counters{}, err
	}
	schedstat, err := readOnce(dir + "/schedstat")
	if err != nil {
		return counters{}, err
	}
	var c counters
	if c.voluntary, c.involuntary, err = parseSwitches(status); err != nil {
		return c, err
	}
	c.wait, err = parseSchedstat(schedstat)
	return c, err
}

// IDs returns the processes in /proc, or the threads in a process's task folder.
func IDs(folder string) ([]int, error) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	ids := make([]int, 0, len(names))
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// readTasks reads the counters of the live threads of a process by thread id. A
// thread that ends meanwhile is left out.
func readTasks(pid int) (map[int]counters, error) {
	ids, err := IDs("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return nil, err
	}
	all := make(map[int]counters, len(ids))
	for _, tid := range ids {
		if c, err := readTask(pid, tid); err == nil {
			all[tid] = c
		}
	}
	return all, nil
}

// bootTicks is the time since boot in the unit of Stat.Started.
func bootTicks() (uint64, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0, os.NewSyscallError("clock_gettime", err)
	}
	return uint64(ts.Nano()) / uint64(tick), nil
}

// Host describes the machine.
func Host() (HostInfo, error) {
	var h HostInfo
	var err error
	if h.Hostname, err = os.Hostname(); err != nil {
		return h, err
	}
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return h, os.NewSyscallError("uname", err)
	}
	h.Kernel = unix.ByteSliceToString(name.Release[:])
	cpuinfo, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return h, err
	}
	h.CPUModel = parseCPUModel(cpuinfo)
	online, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return h, err
	}
	cpus, err := cpuset.Parse(string(online))
	if err != nil {
		return h, fmt.Errorf("/sys/devices/system/cpu/online: %w", err)
	}
	h.CPUs = len(cpus)
	meminfo, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return h, err
	}
	h.MemoryBytes, err = parseMemTotal(meminfo)
	return h, err
}
