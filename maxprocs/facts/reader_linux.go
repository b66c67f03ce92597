package facts

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

// Reader reads the facts of many processes at one time. It reads what they share only
// once: the machine, the mounts, the cgroups and their limits. Use a new Reader for each
// scan. The returned Facts share memory: do not change them. The zero value is ready to
// use, also concurrently.
type Reader struct {
	// Variables are the names of variables to read from the environment in addition to
	// GOMAXPROCS and GODEBUG. Set it before the first use.
	Variables []string

	mu     sync.Mutex
	files  map[string]memo
	places map[string]place
	views  map[string]*View
}

type memo struct {
	text []byte
	err  error
}

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
	variables := readVariables(t, pid, append([]string{"GOMAXPROCS", "GODEBUG"}, r.Variables...)...)
	f.Env, f.GODEBUG, f.Variables = variables[0], variables[1], append(f.Variables, variables[2:]...) // nil without any
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
		for i := range p.limits {
			p.limits[i].from = liveTree{} // which is read again, at a later time
		}
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

// readView reads how another process sees its cgroup; nil if the kernel has no cgroup
// namespaces. The paths in /proc/PID/cgroup and the cgroup roots in
// /proc/PID/mountinfo are shown relative to the reader's cgroup namespace (man 7
// cgroup_namespaces), so for a process in another one the reading is done there.
func readView(pid int) *View {
	// /proc/self is the main thread, which a program may have left behind in
	// another namespace: what is read is shown to the thread that reads.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dir := "/proc/" + strconv.Itoa(pid)
	ours, err := os.Readlink("/proc/thread-self/ns/cgroup")
	if err != nil {
		return nil
	}
	theirs, err := os.Readlink(dir + "/ns/cgroup")
	if err != nil {
		return &View{Fact: failed(dir+"/ns/cgroup", err)}
	}
	var group, mounts []byte
	read := func() error {
		if group, err = readAll(dir + "/cgroup"); err == nil {
			mounts, err = readAll(dir + "/mountinfo")
		}
		return err
	}
	if ours == theirs {
		err = read()
	} else {
		err = inCgroupNamespace(dir+"/ns/cgroup", read)
	}
	if err != nil {
		return &View{Fact: failed(dir+"/ns/cgroup", err)}
	}
	if err := (liveTree{}).look(dir + "/root/proc/self"); errors.Is(err, fs.ErrNotExist) {
		return &View{Fact: Fact{State: Absent, Error: "its root directory has no /proc"}}
	}
	return viewOf(seenTree{}, dir+"/root", group, mounts)
}

// seenTree reads files of cgroups below the root of another process. Whoever may mount there
// can hide a cgroup behind links and files that he chose, and the reader is often root: so
// nothing but a file of a cgroup is opened.
type seenTree struct{ liveTree }

func (seenTree) readFile(name string) ([]byte, error) {
	const only = 0x200000 // O_PATH, which package syscall lacks: to find out what it is
	fd, err := retry(func() (int, error) { return syscall.Open(name, only|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer syscall.Close(fd)
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(fd, &st); err != nil {
		return nil, &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	const v1, v2 = 0x27e0eb, 0x63677270 // include/uapi/linux/magic.h
	if kind := uint32(st.Type); kind != v1 && kind != v2 {
		return nil, &fs.PathError{Op: "read", Path: name, Err: cgfs.Error("is not a file of a cgroup")}
	}
	return liveTree{}.readFile("/proc/self/fd/" + strconv.Itoa(fd))
}

// inCgroupNamespace runs do on a thread that has entered the namespace and ends
// afterwards. It needs CAP_SYS_ADMIN.
func inCgroupNamespace(file string, do func() error) error {
	number, ok := setns[runtime.GOARCH]
	if !ok {
		return &fs.PathError{Op: "setns", Path: file, Err: syscall.ENOSYS}
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return onThreadThatEnds(func() error {
		const cloneNewCgroup = 0x02000000
		if _, _, errno := syscall.RawSyscall(number, f.Fd(), cloneNewCgroup, 0); errno != 0 {
			return &fs.PathError{Op: "setns", Path: file, Err: errno}
		}
		return do()
	})
}

// onThreadThatEnds runs do on a thread that ends afterwards, whatever became of
// it. The main thread never does: the runtime parks it, and it takes up other
// goroutines later. So where a goroutine lands on it, it is held until another
// has done the work elsewhere.
func onThreadThatEnds(do func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if syscall.Gettid() == syscall.Getpid() {
			err := onThreadThatEnds(do)
			runtime.UnlockOSThread()
			done <- err
			return
		}
		done <- do() // and never unlocked: the thread ends with the goroutine
	}()
	return <-done
}

// setns is the system call's number, which package syscall does not have for
// every architecture.
var setns = map[string]uintptr{"amd64": 308, "386": 346, "arm64": 268, "riscv64": 268, "loong64": 268, "arm": 375, "ppc64le": 350, "s390x": 339}
