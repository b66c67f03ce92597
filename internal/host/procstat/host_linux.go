//go:build !portable

package procstat

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/cpuset"
)

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
