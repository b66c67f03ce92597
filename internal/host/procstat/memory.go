package procstat

import (
	"bytes"
	"fmt"
	"strconv"
)

// Memory is what a process has of the machine's, in bytes.
type Memory struct {
	Resident int64 // now: VmRSS
	Peak     int64 // the most since exec: VmHWM
}

// parseMemory reads /proc/PID/status (proc_pid_status(5)), in which a kernel thread has
// none.
func parseMemory(b []byte) (m Memory, err error) {
	if m.Resident, err = statusBytes(b, "VmRSS"); err != nil {
		return Memory{}, err
	}
	m.Peak, err = statusBytes(b, "VmHWM")
	return m, err
}

// statusBytes reads a field such as "VmRSS:    1234 kB".
func statusBytes(b []byte, name string) (int64, error) {
	_, rest, ok := bytes.Cut(b, []byte("\n"+name+":"))
	if !ok {
		return 0, fmt.Errorf("status: no %s", name)
	}
	value, _, _ := bytes.Cut(rest, []byte("\n"))
	n, err := parseKB(value)
	if err != nil {
		return 0, fmt.Errorf("status: %s: %w", name, err)
	}
	return n, nil
}

// parseKB reads a size such as "1234 kB", in bytes.
func parseKB(value []byte) (int64, error) {
	number, isKB := bytes.CutSuffix(bytes.TrimSpace(value), []byte(" kB"))
	kB, err := strconv.ParseUint(string(bytes.TrimSpace(number)), 10, 53)
	if err == nil && !isKB {
		err = fmt.Errorf("%q is not in kB", clip(value))
	}
	return int64(kB) << 10, err
}
