package facts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"strconv"
	"strings"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

// tree is a root directory, live or recorded. Its names are absolute.
type tree interface {
	readFile(name string) ([]byte, error)
	look(name string) error // nil: it is there
}

// ReadFS reads the facts of a process from a tree that is like / on Linux: with proc, sys,
// and the cgroup mounts. Process 0 is /proc/self. The affinity is the Cpus_allowed_list of
// the process and of its threads in the tree, without CPUs that are not online. ReadFS
// fails only if the tree has no such process.
func ReadFS(root fs.FS, pid int) (Facts, error) {
	t := &fsTree{root}
	if t.look(procDir(pid)) != nil {
		return Facts{}, fmt.Errorf("no process in this tree: %s is missing", procDir(pid))
	}
	f := readCommon(t, pid)
	f.Affinity = readAllowed(t, pid, f.Online)
	variables := readVariables(t, pid, "GOMAXPROCS", "GODEBUG")
	f.Env, f.GODEBUG = variables[0], variables[1]
	return f, nil
}

// fsTree is used by its address, so that Limits can be compared with any fs.FS.
type fsTree struct{ fsys fs.FS }

// readFile checks before it opens, because opening a named pipe waits for its writer.
func (t *fsTree) readFile(name string) ([]byte, error) {
	fail := func(err error) ([]byte, error) { return nil, &fs.PathError{Op: "read", Path: name, Err: err} }
	path, limit := strings.TrimPrefix(name, "/"), cgfs.SizeLimit(name)
	info, err := fs.Stat(t.fsys, path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return fail(notFile(info.Mode()))
	case info.Size() > int64(limit):
		return fail(cgfs.TooLarge(limit))
	}
	f, err := t.fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(limit)+1)) // files of /proc have no size
	if len(b) > limit {
		return fail(cgfs.TooLarge(limit))
	}
	return b, err
}

func notFile(mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return cgfs.NotFile(cgfs.Dir)
	case mode&fs.ModeNamedPipe != 0:
		return cgfs.NotFile(cgfs.FIFO)
	case mode&fs.ModeDevice != 0:
		return cgfs.NotFile(cgfs.Device)
	}
	return cgfs.NotFile(0)
}

func (t *fsTree) look(name string) error {
	_, err := fs.Stat(t.fsys, strings.TrimPrefix(name, "/"))
	return err
}

func procDir(pid int) string {
	if pid == 0 {
		return "/proc/self"
	}
	return "/proc/" + strconv.Itoa(pid)
}

func readCommon(t tree, pid int) Facts {
	f := Facts{PID: pid, Online: readOnline(t), Limits: []Limit{}}
	f.Cgroup, f.Limits = readCgroup(t, pid)
	return f
}

func readOnline(t tree) Fact {
	const file = "/sys/devices/system/cpu/online"
	b, err := t.readFile(file)
	if err != nil {
		return failed(file, err)
	}
	set, err := parseCPUList(b)
	return counted(file, string(b), set, err)
}

func readAllowed(t *fsTree, pid int, online Fact) Fact {
	file := procDir(pid) + "/status"
	b, err := t.readFile(file)
	if err != nil {
		return failed(file, err)
	}
	set, raw, err := parseAllowed(b)
	tasks, _ := fs.Glob(t.fsys, strings.TrimPrefix(procDir(pid), "/")+"/task/*/status")
	for _, task := range tasks {
		if b, err := t.readFile("/" + task); err == nil {
			if own, _, err := parseAllowed(b); err == nil {
				set = set.or(own)
			}
		}
	}
	if mask, e := parseCPUList([]byte(online.Raw)); err == nil && e == nil && online.State == Known {
		set = set.and(mask)
	}
	return counted(file, raw, set, err)
}

// counted is the fact of a CPU set; a set without CPUs is malformed.
func counted(file, raw string, set cpuSet, err error) Fact {
	n := set.count()
	if err == nil && n == 0 {
		err = errors.New("no CPUs in it")
	}
	if err != nil {
		return Fact{State: Malformed, File: file, Raw: raw, Error: file + ": " + err.Error()}
	}
	return Fact{State: Known, CPUs: float64(n), File: file, Raw: raw}
}

// readVariables finds variables in the initial environment of the process.
func readVariables(t tree, pid int, names ...string) []Fact {
	file := procDir(pid) + "/environ"
	found := make([]Fact, len(names))
	b, err := t.readFile(file)
	for i, name := range names {
		if err != nil {
			found[i] = failed(file, err)
			if found[i].State == Malformed {
				found[i].State = Unreadable // too large: an environment has no form that it could lack
			}
		} else if value, ok := lookupEnviron(b, name); ok {
			found[i] = Fact{State: Known, File: file, Raw: value}
		} else {
			found[i] = Fact{State: Absent, File: file}
		}
	}
	return found
}

func failed(file string, err error) Fact {
	if errors.Is(err, fs.ErrNotExist) {
		return Fact{State: Absent, File: file}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	state, large := Unreadable, cgfs.TooLarge(0)
	if errors.As(err, &large) {
		state = Malformed
	}
	return Fact{State: state, File: file, Error: file + ": " + err.Error()}
}

// maxCPUID limits CPU numbers; the kernel's own limit, NR_CPUS, is 8192 in the largest
// configurations.
const maxCPUID = 1 << 16

type cpuSet []uint64

func (s cpuSet) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

func (s cpuSet) and(t cpuSet) cpuSet {
	out := cpuSet{}
	for i := 0; i < len(s) && i < len(t); i++ {
		out = append(out, s[i]&t[i])
	}
	return out
}

func (s cpuSet) or(t cpuSet) cpuSet {
	if len(t) > len(s) {
		s, t = t, s
	}
	for i, w := range t {
		s[i] |= w
	}
	return s
}

// parseCPUList parses the kernel's list format, "0-3,8,10-11". An empty list has no
// CPUs. The kernel accepts the form "0-31:2/8", but never prints it.
func parseCPUList(b []byte) (cpuSet, error) {
	text := strings.TrimSpace(string(b))
	set := cpuSet{}
	if text == "" {
		return set, nil
	}
	for _, part := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.ParseUint(from, 10, 32)
		last := first
		if err == nil && isRange {
			last, err = strconv.ParseUint(to, 10, 32)
		}
		if err != nil || last < first || last >= maxCPUID {
			return nil, fmt.Errorf("expected a list of CPUs such as \"0-3,8\", got %q", part)
		}
		for len(set) <= int(last/64) {
			set = append(set, 0)
		}
		for i := first; i <= last; i++ {
			set[i/64] |= 1 << (i % 64)
		}
	}
	return set, nil
}

// parseAllowed finds the line "Cpus_allowed_list:" of /proc/PID/status.
func parseAllowed(status []byte) (set cpuSet, raw string, err error) {
	const key = "Cpus_allowed_list:"
	for len(status) > 0 {
		var line []byte
		line, status, _ = bytes.Cut(status, []byte("\n"))
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok {
			set, err = parseCPUList(rest)
			return set, string(bytes.TrimSpace(rest)), err
		}
	}
	return nil, "", errors.New("no line " + key)
}

// lookupEnviron finds a variable in the text of /proc/PID/environ, in which each entry
// ends with a NUL. The first entry of a name is used, as in the runtime.
func lookupEnviron(b []byte, name string) (string, bool) {
	for len(b) > 0 {
		var entry []byte
		entry, b, _ = bytes.Cut(b, []byte{0})
		if key, value, ok := bytes.Cut(entry, []byte("=")); ok && string(key) == name {
			return string(value), true
		}
	}
	return "", false
}
