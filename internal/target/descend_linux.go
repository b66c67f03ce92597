package target

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A process is what /proc/PID/stat says of it; the start time, in clock ticks
// since boot, tells it from a later one of the same PID.
type process struct {
	pid, parent int
	start       uint64
	zombie      bool
}

// parseStat reads a line of proc_pid_stat(5). The name in parentheses may hold
// any byte.
func parseStat(data []byte) (p process, ok bool) {
	open, end := bytes.IndexByte(data, '('), bytes.LastIndexByte(data, ')')
	if open < 1 || end < open {
		return p, false
	}
	fields := bytes.Fields(data[end+1:])
	const state, parent, start = 0, 1, 19 // the file's fields 3, 4 and 22
	if len(fields) <= start {
		return p, false
	}
	var err1, err2, err3 error
	p.pid, err1 = strconv.Atoi(string(bytes.TrimSpace(data[:open])))
	p.parent, err2 = strconv.Atoi(string(fields[parent]))
	p.start, err3 = strconv.ParseUint(string(fields[start]), 10, 64)
	p.zombie = fields[state][0] == 'Z'
	return p, err1 == nil && err2 == nil && err3 == nil && p.pid > 0 && p.parent >= 0
}

func readProcess(pid int) (process, bool) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	return parseStat(data)
}

// descendants lists all below root, parents first.
func descendants(root int) ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	children := map[int][]process{}
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if p, ok := readProcess(pid); ok {
				children[p.parent] = append(children[p.parent], p)
			}
		}
	}
	all := slices.Clone(children[root])
	for i := 0; i < len(all); i++ { // grows as it goes
		all = append(all, children[all[i].pid]...)
		delete(children, all[i].pid) // a PID that was used again during the scan must not make a cycle
	}
	return all, nil
}

// kill sends SIGKILL to exactly this process, not to a later one of its PID: a
// descriptor of it is held while its start time is compared.
func (p process) kill() {
	handle, err := os.FindProcess(p.pid)
	if err != nil {
		return
	}
	defer handle.Release()
	if now, ok := readProcess(p.pid); ok && now.start == p.start {
		_ = handle.Kill() // fails if it is gone
	}
}

func duration(t unix.Timeval) time.Duration { return time.Duration(t.Nano()) }
