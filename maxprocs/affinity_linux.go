package maxprocs

import (
	"math/bits"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

// cpuMask has room for 65536 CPUs; the largest kernels know 8192.
type cpuMask [1024]uint64

// add adds the CPUs on which the thread may run.
func (m *cpuMask) add(tid int) {
	var own cpuMask
	n, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY,
		uintptr(tid), unsafe.Sizeof(own), uintptr(unsafe.Pointer(&own[0])))
	if errno != 0 || n > unsafe.Sizeof(own) {
		return
	}
	for i, word := range own[:(n+7)/8] {
		m[i] |= word
	}
}

func (m *cpuMask) count() (cpus int) {
	for _, word := range m {
		cpus += bits.OnesCount64(word)
	}
	return cpus
}

// affinity is the number of CPUs that the program may run on at present;
// runtime.NumCPU is that of the start. Where the main thread's mask is another
// than then, it need not stand for the program: a thread that was pinned by itself
// leaves the others where they were.
func affinity() int {
	var mask cpuMask
	mask.add(syscall.Getpid())
	if mask.count() != runtime.NumCPU() {
		eachThread(mask.add)
	}
	if cpus := mask.count(); cpus > 0 {
		return cpus
	}
	return runtime.NumCPU()
}

// eachThread calls f with the ID of each thread of this process.
func eachThread(f func(tid int)) {
	fd, err := syscall.Open("/proc/self/task", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer syscall.Close(fd)
	buf := make([]byte, 4096)
	for {
		n, err := syscall.ReadDirent(fd, buf)
		if err == syscall.EINTR {
			continue
		} else if n <= 0 || err != nil {
			return
		}
		_, _, names := syscall.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			if tid, ok := cgfs.ParseInt(name); ok {
				f(int(tid))
			}
		}
	}
}
