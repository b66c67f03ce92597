package facts

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

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
	return viewOf(liveTree{}, dir+"/root", group, mounts)
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
