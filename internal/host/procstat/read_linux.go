//go:build !portable

package procstat

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/cpuset"
)

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

// ReadCPU reads the CPU time of those CPUs, of all when none is named.
func ReadCPU(cpus ...int) (CPU, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return CPU{}, err
	}
	return parseCPU(b, cpus)
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

// bootTicks is the time since boot in the unit of Stat.Started.
func bootTicks() (uint64, error) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0, os.NewSyscallError("clock_gettime", err)
	}
	return uint64(ts.Nano()) / uint64(tick), nil
}

// Monotonic is CLOCK_MONOTONIC, which all processes share, but for those in a time namespace. An
// error is impossible.
func Monotonic() time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return time.Duration(now.Nano())
}

func threadCPU() time.Duration {
	var used unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used)
	return time.Duration(used.Nano())
}

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
