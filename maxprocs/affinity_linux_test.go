package maxprocs

import (
	"runtime"
	"syscall"
	"testing"
	"unsafe"
)

// setAffinity lets one thread run on the CPUs of the mask.
func setAffinity(t *testing.T, tid int, mask cpuMask) {
	t.Helper()
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(tid), unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask[0]))); errno != 0 && errno != syscall.ESRCH {
		t.Fatalf("thread %d: %v", tid, errno)
	}
}

// TestPinnedMainThread: one thread that was pinned by itself, the main thread too,
// does not stand for the program.
func TestPinnedMainThread(t *testing.T) {
	all := runtime.NumCPU()
	if all < 2 {
		t.Skip("needs two CPUs")
	}
	var was, one cpuMask
	was.add(syscall.Getpid())
	for i, word := range was {
		if word != 0 {
			one[i] = word & -word
			break
		}
	}
	setAffinity(t, syscall.Getpid(), one)
	defer setAffinity(t, syscall.Getpid(), was)
	if got := affinity(); got != all {
		t.Errorf("with the main thread on one CPU: %d, the program has %d", got, all)
	}
	// All of them are the program.
	eachThread(func(tid int) { setAffinity(t, tid, one) })
	defer eachThread(func(tid int) { setAffinity(t, tid, was) })
	if got := affinity(); got != 1 {
		t.Errorf("with every thread on one CPU: %d", got)
	}
}
