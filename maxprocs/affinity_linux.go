package maxprocs

import (
	"math/bits"
	"runtime"
	"syscall"
	"unsafe"
)

// cpuMask has room for 8192 CPUs, which is what the largest kernels know.
type cpuMask [128]uint64

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
	var buf [2048]byte
	for {
		n, err := syscall.ReadDirent(fd, buf[:])
		if err == syscall.EINTR {
			continue
		} else if n <= 0 || err != nil {
			return
		}
		for entries := buf[:n]; len(entries) > dirName; {
			length := int(*(*uint16)(unsafe.Pointer(&entries[dirLength])))
			tid := 0
			for _, c := range entries[dirName:] {
				if c < '0' || c > '9' {
					break
				}
				tid = 10*tid + int(c-'0')
			}
			if tid > 0 { // and not . or ..
				f(tid)
			}
			if length <= dirName || length > len(entries) {
				return
			}
			entries = entries[length:]
		}
	}
}

// Where an entry of a directory has its length and its name, in bytes (struct
// linux_dirent64, man 2 getdents64).
const (
	dirLength = 16
	dirName   = 19
)
