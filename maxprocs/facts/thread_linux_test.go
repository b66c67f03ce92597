package facts

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
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
