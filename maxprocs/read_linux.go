package maxprocs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

// Read gathers the facts of this process. Its environment is the present one
// of package os.
func Read() Facts {
	f := readCommon(liveTree{}, 0)
	f.PID = os.Getpid()
	f.Affinity = readAffinity(f.PID)
	f.Env, f.GODEBUG = ownEnv("GOMAXPROCS"), ownEnv("GODEBUG")
	f.GoVersion = runtime.Version()
	f.DefaultGODEBUG = ownDefaultGODEBUG()
	return f
}

// ReadPID gathers the facts of another process. It fails only when there is no
// such process; what permissions deny is marked unreadable.
func ReadPID(pid int) (Facts, error) { return new(Reader).ReadPID(pid) }

func noProcess(pid int) error {
	return fmt.Errorf("no process %d: %s is missing", pid, "/proc/"+strconv.Itoa(pid))
}

type liveTree struct{}

func (liveTree) readFile(name string) ([]byte, error) {
	b, err := readAll(name)
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, syscall.ENODEV) {
		// The process, or the group, went away between open and read.
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("gone while being read: %w", err)}
	}
	return b, err
}

// buffers are for readAll; most files here are below their size.
var buffers = sync.Pool{New: func() any { return new([16 << 10]byte) }}

// readAll is os.ReadFile for files whose size stat does not tell, in a third of
// the system calls: a look at all processes of a machine reads thousands of them.
func readAll(name string) ([]byte, error) {
	fail := func(op string, err error) ([]byte, error) {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	fd, err := retry(func() (int, error) { return syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return fail("open", err)
	}
	defer syscall.Close(fd)
	buf := buffers.Get().(*[16 << 10]byte)
	defer buffers.Put(buf)
	all := []byte{}
	for {
		n, err := retry(func() (int, error) { return syscall.Read(fd, buf[:]) })
		if err != nil {
			return fail("read", err)
		}
		if n <= 0 {
			return all, nil
		}
		all = append(all, buf[:n]...)
	}
}

// retry goes on after a signal, as package os does (golang/go#40846).
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != syscall.EINTR {
			return n, err
		}
	}
}

func (liveTree) exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// readAffinity asks the kernel for the mask of the process's main thread. Any
// process may be asked (man 2 sched_getaffinity). The kernel leaves out the
// CPUs that are not active.
func readAffinity(pid int) Fact {
	const file = "sched_getaffinity"
	var mask [maxCPUID / 64]uint64
	n, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY,
		uintptr(pid), unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask[0])))
	if errno != 0 {
		return failed(file, &fs.PathError{Op: file, Path: strconv.Itoa(pid), Err: errno})
	}
	return counted(file, "", cpuSet(mask[:(n+7)/8]), nil)
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
