package procstat

import (
	"os"

	"golang.org/x/sys/unix"
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
	if h.CPUs, err = countCPUs(online); err != nil {
		return h, err
	}
	meminfo, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return h, err
	}
	h.MemoryBytes, err = parseMemTotal(meminfo)
	return h, err
}
