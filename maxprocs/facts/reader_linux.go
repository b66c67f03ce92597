package facts

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// Reader reads the facts of many processes at one time. It reads what they share only
// once: the machine, the mounts, the cgroups and their limits. Use a new Reader for each
// scan. The returned Facts share memory: do not change them. The zero value is ready to
// use, also concurrently.
type Reader struct {
	mu     sync.Mutex
	files  map[string]memo
	places map[string]place
	views  map[string]*View
}

// memo is the content of a file, or that it exists.
type memo struct {
	text []byte
	err  error
}

// place is a cgroup and its limits.
type place struct {
	cgroup Cgroup
	limits []Limit
}

// ReadPID reads the facts of a process, like the function ReadPID.
func (r *Reader) ReadPID(pid int) (Facts, error) {
	group, groupErr := liveTree{}.readFile(procDir(pid) + "/cgroup")
	if pid <= 0 || groupErr != nil && (liveTree{}).look(procDir(pid)) != nil {
		return Facts{}, noProcess(pid)
	}
	t := sharedTree{r}
	f := Facts{PID: pid, Online: readOnline(t)}
	f.Affinity = readAffinity(pid, f.Online)
	f.Env, f.GODEBUG = readEnviron(t, pid)
	f.Cgroup, f.Limits = r.place(pid, group)
	f.Cgroup.View = r.view(pid, group)
	return f, nil
}

// ReadMemory reads the memory facts of a process.
func (r *Reader) ReadMemory(pid int) (Memory, error) {
	if pid <= 0 || (liveTree{}).look(procDir(pid)) != nil {
		return Memory{}, noProcess(pid)
	}
	t := sharedTree{r}
	m := readMemory(t, pid)
	m.Env = readVariables(t, pid, "GOMEMLIMIT")[0]
	return m, nil
}

// place reads the cgroup and its limits, once for all processes in it.
func (r *Reader) place(pid int, group []byte) (Cgroup, []Limit) {
	r.mu.Lock()
	p, ok := r.places[string(group)]
	r.mu.Unlock()
	if !ok {
		p.cgroup, p.limits = readCgroup(sharedTree{r}, pid)
		if p.cgroup.State != Known {
			return p.cgroup, p.limits // its words name the process
		}
		r.mu.Lock()
		put(&r.places, string(group), p)
		r.mu.Unlock()
	}
	p.cgroup.File = procDir(pid) + "/cgroup"
	return p.cgroup, p.limits
}

// view reads the process's own view, once for all processes that share group,
// namespaces and root directory.
func (r *Reader) view(pid int, group []byte) *View {
	dir := "/proc/" + strconv.Itoa(pid)
	key := []string{string(group)}
	for _, link := range []string{"/ns/cgroup", "/ns/mnt", "/root"} {
		target, err := os.Readlink(dir + link)
		if err != nil {
			return readView(pid)
		}
		key = append(key, target)
	}
	name := strings.Join(key, "\x00")
	r.mu.Lock()
	v, ok := r.views[name]
	r.mu.Unlock()
	if !ok {
		if v = readView(pid); v == nil || v.State == Unreadable {
			return v
		}
		r.mu.Lock()
		put(&r.views, name, v)
		r.mu.Unlock()
	}
	return v
}

// sharedTree reads the files of a process each time and all others once.
type sharedTree struct{ r *Reader }

func (sharedTree) later() tree { return liveTree{} }

func (t sharedTree) readFile(name string) ([]byte, error) {
	m := t.once(name, "text of ", func() (m memo) {
		m.text, m.err = liveTree{}.readFile(name)
		return m
	})
	return m.text, m.err
}

func (t sharedTree) look(name string) error {
	return t.once(name, "is there ", func() memo { return memo{err: liveTree{}.look(name)} }).err
}

func (t sharedTree) once(name, what string, read func() memo) memo {
	if rest, ok := strings.CutPrefix(name, "/proc/"); ok && !strings.HasPrefix(rest, "self") {
		return read()
	}
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	m, ok := t.r.files[what+name]
	if !ok {
		m = read()
		put(&t.r.files, what+name, m)
	}
	return m
}

func put[V any](m *map[string]V, key string, v V) {
	if *m == nil {
		*m = make(map[string]V)
	}
	(*m)[key] = v
}
