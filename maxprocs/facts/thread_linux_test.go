package facts

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// TestReadPIDStaysInItsNamespace reads a process of another cgroup namespace from
// main's goroutine, on the thread that does not end: nothing of this process is
// in that namespace afterwards.
func TestReadPIDStaysInItsNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		skip(t, "needs root, to make a cgroup namespace")
	}
	sleeper := exec.Command("sleep", "60")
	sleeper.SysProcAttr = &syscall.SysProcAttr{Cloneflags: 0x02000000} // CLONE_NEWCGROUP
	if err := sleeper.Start(); err != nil {
		skip(t, "needs a cgroup namespace: "+err.Error())
	}
	defer sleeper.Wait()
	defer sleeper.Process.Kill()
	for _, procs := range []string{"1", "2"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "MAXPROCS_TEST_READ="+strconv.Itoa(sleeper.Process.Pid), "GOMAXPROCS="+procs, "GORACE=atexit_sleep_ms=0")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "read in ") {
			t.Errorf("with GOMAXPROCS=%s: %v: %s", procs, err, out)
		}
	}
}

// readFromMain reads the process again and again, and looks at the namespace of
// every thread.
func readFromMain(pid string) int {
	n, err := strconv.Atoi(pid)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	before, err := os.Readlink("/proc/self/ns/cgroup")
	for i := 0; i < 20 && err == nil; i++ {
		var f Facts
		if f, err = ReadPID(n); err == nil && (f.Cgroup.View == nil || f.Cgroup.View.State == Unreadable) {
			err = fmt.Errorf("its view is unknown: %+v", f.Cgroup.View)
		}
		if after, e := os.Readlink("/proc/self/ns/cgroup"); err == nil && (e != nil || after != before) {
			err = fmt.Errorf("the main thread is in %s after call %d, and was in %s (%v)", after, i+1, before, e)
		}
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("read in", before)
	return 0
}

// TestPinnedThread: a process whose main thread is pinned by itself has the CPUs
// of its other threads.
func TestPinnedThread(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("needs two CPUs")
	}
	was, errno := threadAffinity(os.Getpid())
	one := append(cpuSet{}, was...)
	for i, word := range one {
		if one[i] = word & -word; word != 0 {
			clear(one[i+1:])
			break
		}
	}
	set := func(mask cpuSet) {
		if _, _, e := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(os.Getpid()), uintptr(8*len(mask)), uintptr(unsafe.Pointer(&mask[0]))); e != 0 || errno != 0 {
			t.Fatal(e, errno)
		}
	}
	set(one)
	defer set(was)
	f, err := ReadPID(os.Getpid())
	if err != nil || f.AffinityCPUs() != runtime.NumCPU() || Read().AffinityCPUs() != runtime.NumCPU() {
		t.Errorf("%+v, %v; this program has %d CPUs", f.Affinity, err, runtime.NumCPU())
	}
}
