package procstat

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

func ReadStat(pid int) (Stat, error) {
	b := stats.Get().(*[1024]byte)
	defer stats.Put(b)
	text, err := readInto(b[:], "/proc/"+strconv.Itoa(pid)+"/stat")
	if err != nil {
		return Stat{}, err
	}
	return ParseStat(text)
}

// Ran is how long the first thread of a process was on a CPU. A Stat has what all of them were, in whole
// ticks of 10 ms.
func Ran(pid int) (time.Duration, error) {
	b, err := readOnce("/proc/" + strconv.Itoa(pid) + "/schedstat")
	if err != nil {
		return 0, err
	}
	ran, _, err := parseSchedstat(b)
	return time.Duration(ran), err
}

// HasEnded reports whether a process, or a thread, has: the first thread of a process stays as a
// zombie.
func HasEnded(id int) bool {
	s, err := ReadStat(id)
	return err != nil || s.Ended()
}

// stats are for /proc/PID/stat, of which a scan reads thousands.
var stats = sync.Pool{New: func() any { return new([1024]byte) }}

// fromStatus parses the status of a process or of a thread.
func fromStatus[T any](id int, parse func([]byte) (T, error)) (v T, err error) {
	b, err := readOnce("/proc/" + strconv.Itoa(id) + "/status")
	if err != nil {
		return v, err
	}
	return parse(b)
}

// ThreadGroup returns the process that a thread belongs to. /proc has a directory
// for every thread, though it lists the processes alone.
func ThreadGroup(tid int) (pid int, err error) {
	n, err := fromStatus(tid, func(b []byte) (int64, error) { return numberOf(b, "Tgid:") })
	return int(n), err
}

// Status is a field of /proc/PID/status, as it is written.
func Status(pid int, name string) (string, error) {
	return fromStatus(pid, func(b []byte) (string, error) { return valueOf(b, name+":") })
}

// ReadTracing reads /proc/TID/status.
func ReadTracing(tid int) (Tracing, error) { return fromStatus(tid, parseTracing) }

// ReadMemory reads /proc/PID/status.
func ReadMemory(pid int) (Memory, error) { return fromStatus(pid, parseMemory) }

// longestFile is more than the status of a process has that is in as many groups as
// Linux allows, 65,536; in bytes.
const longestFile = 1 << 20

// readOnce reads a file of less than 4 KiB in three system calls, which os.ReadFile
// does in six: a process of 5,000 threads has 10,000 such files. Only status can be
// longer: it lists the groups that the process is in.
func readOnce(name string) ([]byte, error) { return readInto(make([]byte, 4096), name) }

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
	_, c.wait, err = parseSchedstat(schedstat)
	return c, err
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

// mostOpenFiles bounds how many of the open files of a process are looked at.
const mostOpenFiles = 1 << 20

// AnySocket passes the inodes of the sockets that a process has open to is, until that is true.
// Inodes of sockets are unique across network namespaces.
func AnySocket(pid int, is func(inode uint64) bool) (bool, error) {
	path := "/proc/" + strconv.Itoa(pid) + "/fd"
	dir, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer dir.Close()
	for seen := 0; err == nil && seen < mostOpenFiles; {
		var names []string
		names, err = dir.Readdirnames(1024)
		for _, name := range names {
			link, _ := os.Readlink(path + "/" + name)
			text, socket := strings.CutPrefix(link, "socket:[")
			if inode, bad := strconv.ParseUint(strings.TrimSuffix(text, "]"), 10, 64); socket && bad == nil && is(inode) {
				return true, nil
			}
		}
		seen += len(names)
	}
	return false, nil
}
