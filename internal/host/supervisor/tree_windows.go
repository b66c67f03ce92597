package supervisor

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

func groupOfItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// tree is a job that the command and all that it starts are in. It ends with the
// last handle of it, so with procfit, however that ends.
type tree struct {
	job    windows.Handle
	group  uint32
	forced *atomic.Bool // it had to be killed
}

func newTree(p *os.Process) (tree, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return tree{}, fmt.Errorf("make a job: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = assign(job, p.Pid)
	}
	if err != nil {
		windows.CloseHandle(job)
		return tree{}, fmt.Errorf("put the command into a job: %w", err)
	}
	return tree{job: job, group: uint32(p.Pid), forced: new(atomic.Bool)}, nil
}

func assign(job windows.Handle, pid int) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return windows.AssignProcessToJobObject(job, h)
}

// ask lets the command end by itself: Go programs take this for an interrupt.
func (t tree) ask() { _ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, t.group) }

func (t tree) force() {
	t.forced.Store(true)
	t.kill()
}

func (t tree) kill() { _ = windows.TerminateJobObject(t.job, 1) }

// end kills what the command left, and reports whether it had to be killed itself.
func (t tree) end() bool {
	windows.CloseHandle(t.job)
	return t.forced.Load()
}
