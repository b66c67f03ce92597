package facts

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

// Memory is everything that decides a program's GOMEMLIMIT, by package memlimit.
type Memory struct {
	PID    int           // 0: a tree's /proc/self
	Cgroup Cgroup        // in the hierarchy of the memory controller; it has no View
	Limits []MemoryLimit // from the process's own cgroup upwards
	Env    Fact          // GOMEMLIMIT; Raw is the value as written
}

// MemoryLimit is one memory limit of one cgroup. The CPUs of its Fact are 0.
type MemoryLimit struct {
	Fact
	Bytes int64  // if it is Known
	Dir   string // the cgroup's directory
	Kind  MemoryKind
}

// MemoryKind is which limit of a cgroup it is.
type MemoryKind string

const (
	MemoryMax  MemoryKind = "max"  // memory.max, or memory.limit_in_bytes on v1: above it the kernel kills
	MemoryHigh MemoryKind = "high" // memory.high: above it the kernel slows the cgroup down and reclaims memory

	// MemoryAncestors is the lowest limit of all parent cgroups, which v1 shows in
	// memory.stat, even if a container cannot see those cgroups.
	MemoryAncestors MemoryKind = "ancestors"
)

// ReadMemoryFS reads the memory facts of a process from a tree, as ReadFS does for CPUs.
func ReadMemoryFS(root fs.FS, pid int) (Memory, error) {
	t := &fsTree{root}
	if t.look(procDir(pid)) != nil {
		return Memory{}, fmt.Errorf("no process in this tree: %s is missing", procDir(pid))
	}
	m := readMemory(t, pid)
	m.Env = readVariables(t, pid, "GOMEMLIMIT")[0]
	return m, nil
}

// Tightest is the smallest known limit, or false if no limit is known. Of equal limits
// it is the first.
func (m Memory) Tightest() (MemoryLimit, bool) {
	best, found := MemoryLimit{}, false
	for _, l := range m.Limits {
		if l.State == Known && (!found || l.Bytes < best.Bytes) {
			best, found = l, true
		}
	}
	return best, found
}

// Changed reports whether a limit is no longer what it was when it was read from this
// machine. It reads only the files of the limits again, which takes about 20 µs, and
// misses a move to another cgroup.
func (m Memory) Changed() bool {
	for _, l := range m.Limits {
		if l.again(liveTree{}) != l {
			return true
		}
	}
	return false
}

// again reads the limit from where it was read.
func (l MemoryLimit) again(t tree) MemoryLimit {
	const v1 = "memory.limit_in_bytes"
	switch name := path.Base(l.File); {
	case l.Kind == MemoryAncestors:
		return readHierarchical(t, l.Dir)
	case name == v1:
		return readBytes(t, l.Dir, v1, l.Kind, cgfs.ParseMemoryLimit)
	default:
		return readBytes(t, l.Dir, name, l.Kind, cgfs.ParseMemoryMax)
	}
}

// Missing returns the facts that could not be read. A number from the other facts may
// then be too high.
func (m Memory) Missing() []Fact {
	var out []Fact
	for _, l := range append([]MemoryLimit{{Fact: m.Cgroup.Fact}}, m.Limits...) {
		if l.State == Unreadable || l.State == Malformed {
			out = append(out, l.Fact)
		}
	}
	return out
}

// Unknown is Missing in words.
func (m Memory) Unknown() []string {
	var out []string
	for _, f := range m.Missing() {
		out = append(out, fmt.Sprintf("a memory limit is %s: %s", f.State, f.Error))
	}
	return out
}

func readMemory(t tree, pid int) Memory {
	m := Memory{PID: pid, Limits: []MemoryLimit{}}
	var dirs []string
	m.Cgroup, dirs = findCgroup(t, pid, cgfs.Memory)
	for i, dir := range dirs {
		if m.Cgroup.Version == 2 {
			m.Limits = append(m.Limits,
				readBytes(t, dir, "memory.max", MemoryMax, cgfs.ParseMemoryMax),
				readBytes(t, dir, "memory.high", MemoryHigh, cgfs.ParseMemoryMax))
			continue
		}
		switch {
		case i == 0:
			m.Limits = append(m.Limits, readHierarchical(t, dir))
		case !inherits(t, dir):
			return m
		}
		m.Limits = append(m.Limits, readBytes(t, dir, "memory.limit_in_bytes", MemoryMax, cgfs.ParseMemoryLimit))
	}
	return m
}

// inherits reports whether the limit of a v1 cgroup applies to the cgroups below it.
// Kernels before 5.11 let cgroups choose (memory.use_hierarchy); in newer ones the file
// always has 1.
func inherits(t tree, dir string) bool {
	b, err := t.readFile(path.Join(dir, "memory.use_hierarchy"))
	return err != nil || string(b) != "0\n" && string(b) != "0"
}

func readBytes(t tree, dir, name string, kind MemoryKind, parse func(string) (int64, bool, error)) MemoryLimit {
	file := path.Join(dir, name)
	b, err := t.readFile(file)
	if err != nil {
		// Absent in the hierarchy's root, and if the parent does not enable the memory
		// controller: no limit is possible there.
		return MemoryLimit{Dir: dir, Kind: kind, Fact: failed(file, err)}
	}
	bytes, limited, err := parse(string(b))
	return MemoryLimit{Dir: dir, Kind: kind, Bytes: bytes, Fact: limitFact(file, b, 0, limited, err)}
}

// readHierarchical reads the limit of all parent cgroups. Raw is only its line.
func readHierarchical(t tree, dir string) MemoryLimit {
	l := MemoryLimit{Dir: dir, Kind: MemoryAncestors}
	file := path.Join(dir, "memory.stat")
	b, err := t.readFile(file)
	if err != nil {
		l.Fact = failed(file, err)
		return l
	}
	bytes, limited, line, err := cgfs.ParseHierarchicalLimit(string(b))
	if line == "" {
		l.Fact = Fact{State: Absent, File: file}
		return l
	}
	l.Bytes, l.Fact = bytes, limitFact(file, []byte(line), 0, limited, err)
	return l
}
