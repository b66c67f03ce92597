package facts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

// Read reads the facts of this process. The environment is the current one of package os.
func Read() Facts {
	f := readCommon(liveTree{}, 0)
	f.PID = os.Getpid()
	f.Affinity = readAffinity(f.PID, f.Online)
	f.Env, f.GODEBUG = ownEnv("GOMAXPROCS"), ownEnv("GODEBUG")
	f.GoVersion = runtime.Version()
	f.GOARCH, f.DefaultGODEBUG = runtime.GOARCH, ownDefaultGODEBUG()
	return f
}

// ReadMemory reads the memory facts of this process.
func ReadMemory() Memory {
	m := readMemory(liveTree{}, 0)
	m.PID, m.Env = os.Getpid(), ownEnv("GOMEMLIMIT")
	return m
}

// ReadPID reads the facts of another process. It fails only if there is no such process;
// facts without permission are Unreadable.
func ReadPID(pid int) (Facts, error) { return new(Reader).ReadPID(pid) }

func noProcess(pid int) error {
	return fmt.Errorf("no process %d: %s is missing", pid, "/proc/"+strconv.Itoa(pid))
}

type liveTree struct{}

func (liveTree) readFile(name string) ([]byte, error) {
	b, err := readAll(name)
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.ENODEV) {
		// The process, or the group, went away between open and read.
		if named := (*fs.PathError)(nil); errors.As(err, &named) {
			err = named.Err // the name is there already
		}
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("gone while being read: %w", err)}
	}
	return b, err
}

// buffers are for readAll; most files are smaller.
var buffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}

// readAll is os.ReadFile for files whose size stat does not know, with less than half of
// the system calls: a scan of all processes of a machine reads thousands of files. It
// neither waits for a named pipe nor reads without end.
func readAll(name string) ([]byte, error) {
	fail := func(op string, err error) ([]byte, error) {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	fd, err := retry(func() (int, error) {
		return syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	})
	if err != nil {
		return fail("open", err)
	}
	defer syscall.Close(fd)
	one := ofProcess(name)
	if !one {
		var st syscall.Stat_t
		if err := syscall.Fstat(fd, &st); err != nil {
			return fail("stat", err)
		} else if !cgfs.IsFile(st.Mode) {
			return fail("read", cgfs.NotFile(st.Mode))
		}
	}
	buf := buffers.Get().(*[16 << 10]byte)
	defer buffers.Put(buf)
	all, limit := []byte{}, cgfs.SizeLimit(name)
	for {
		n, err := retry(func() (int, error) { return syscall.Read(fd, buf[:]) })
		if err != nil {
			return fail("read", err)
		}
		if n <= 0 {
			return all, nil
		}
		if all = append(all, buf[:n]...); len(all) > limit {
			return fail("read", cgfs.TooLarge(limit))
		}
		if one && n < len(buf) {
			return all, nil
		}
	}
}

// ofProcess reports whether a file is one that the kernel shows for each process, whole in the
// first read that it does not fill. A list such as mountinfo takes several.
func ofProcess(name string) bool {
	file, ok := strings.CutPrefix(name, "/proc/")
	_, file, _ = strings.Cut(file, "/")
	return ok && (file == "cgroup" || file == "environ")
}

// retry repeats a call after a signal, as package os does (golang/go#40846).
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return n, err
		}
	}
}

func (liveTree) look(name string) error {
	_, err := os.Lstat(name)
	return err
}

// readAffinity asks the kernel for the CPUs on which any thread of the process may run,
// because a single pinned thread, even the main thread, does not show the affinity of the
// process. This works for every process (man 2 sched_getaffinity). The kernel omits CPUs
// that are not active. If the main thread has all online CPUs, the others are not asked.
func readAffinity(pid int, online Fact) Fact {
	const file = "sched_getaffinity"
	all, errno := threadAffinity(pid)
	if errno != 0 {
		return failed(file, &fs.PathError{Op: file, Path: strconv.Itoa(pid), Err: errno})
	}
	if online.State == Known && float64(all.count()) >= online.CPUs {
		return counted(file, "", all, nil)
	}
	if dir, err := os.Open("/proc/" + strconv.Itoa(pid) + "/task"); err == nil {
		names, _ := dir.Readdirnames(-1)
		dir.Close()
		for _, name := range names {
			if tid, err := strconv.Atoi(name); err == nil && tid != pid {
				mask, _ := threadAffinity(tid) // it may have ended
				all = all.or(mask)
			}
		}
	}
	return counted(file, "", all, nil)
}

func threadAffinity(tid int) (cpuSet, syscall.Errno) {
	var mask [maxCPUID / 64]uint64
	n, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY,
		uintptr(tid), unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask[0])))
	if errno != 0 {
		return nil, errno
	}
	return append(cpuSet{}, mask[:(n+7)/8]...), 0
}

func ownDefaultGODEBUG() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "DefaultGODEBUG" {
			return s.Value
		}
	}
	return ""
}
