//go:build !portable

package supervisor

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/host/procstat"
)

// start starts the command by way of the stage, and returns when exec has
// happened or failed. The command's directory or file may be on a network whose server does
// not answer, for as long as that lasts: then procfit's end, or a signal, ends the wait.
func (s *supervisor) start(commands <-chan command, ends <-chan os.Signal) error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the reaper: %w", err)
	}
	for _, folder := range s.request.Folders {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
	}
	s.openLog()
	requestR, requestW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer requestW.Close()
	reportR, reportW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer reportR.Close()
	if err := s.fork(requestR, reportW); err != nil {
		return err
	}
	if err := gob.NewEncoder(requestW).Encode(s.request); err != nil {
		return fmt.Errorf("instruct the stage: %w", err)
	}
	executed := make(chan error, 1)
	go func() { executed <- s.awaitExec(gob.NewDecoder(reportR)) }()
	select {
	case err := <-executed:
		return err
	case <-commands: // procfit sends none before it knows that the command runs: it is gone
	case <-ends:
	}
	_ = unix.Kill(s.pid, unix.SIGKILL)
	return errors.New("the supervisor was ended before the command ran")
}

// fork starts the stage, closes what is its alone, and begins to read the
// command's output.
func (s *supervisor) fork(requestR, reportW *os.File) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	theirs := []*os.File{null, requestR, reportW}
	standard := []uintptr{null.Fd()}
	for range s.to {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		// A command that prints must not wait for the supervisor's turn on a busy
		// CPU; the default of 64 KiB fills in well under a time slice.
		_, _ = unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 256<<10)
		s.pipes, theirs, standard = append(s.pipes, r), append(theirs, w), append(standard, w.Fd())
	}
	if len(s.to) == 1 {
		standard = append(standard, standard[1])
	}
	if s.request.Streams {
		standard = []uintptr{firstFile, firstFile + 1, firstFile + 2}
	}
	s.request.Supervisor = os.Getpid()
	s.pid, err = syscall.ForkExec("/proc/self/exe", []string{"procfit", partStage}, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: append(standard, requestR.Fd(), reportW.Fd()),
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	for _, f := range theirs {
		f.Close()
	}
	if s.request.Streams {
		for fd := range 3 {
			_ = unix.Close(firstFile + fd) // or nobody would see the end of the command's output
		}
	}
	if err != nil {
		return fmt.Errorf("start the stage: %w", err)
	}
	for i, r := range s.pipes {
		s.draining.Go(func() { _, _ = io.Copy(s.to[i], r) }) // ends with the last writer, or by finishLog
	}
	return nil
}

func (s *supervisor) awaitExec(reports *gob.Decoder) error {
	var ready, failed report
	if err := reports.Decode(&ready); err != nil {
		return fmt.Errorf("the stage ended before exec: %w", err)
	}
	if ready.Error != "" {
		return errors.New(ready.Error)
	}
	s.stage = ready.Used
	if err := reports.Decode(&failed); !errors.Is(err, io.EOF) {
		return errors.New(failed.Error)
	}
	// The end of the reports is noticed late on a busy machine, when a short command may have
	// ended already.
	s.started = time.Now().Add(ready.At - procstat.Monotonic())
	return nil
}

func (s *supervisor) openLog() {
	var log, stderr *os.File
	if s.request.Log {
		log = os.NewFile(firstFile, "log")
	}
	if s.request.ErrorLog {
		stderr = os.NewFile(firstFile+1, "log of stderr")
	}
	s.logs = newLogs(log, stderr, s.request.LogLimit)
	for _, f := range []*os.File{log, stderr} {
		if f != nil {
			s.files = append(s.files, f)
		}
	}
}

func (s *supervisor) finishLog() error {
	for _, r := range s.pipes {
		_ = r.SetReadDeadline(time.Now().Add(drainPatience))
	}
	s.draining.Wait()
	return s.logs.close()
}

// The hidden first arguments. They are in ps next to the command, so they say
// what the process is.
const (
	partSupervisor = "(supervisor)"
	partStage      = "(stage)"
)

// Stage runs the part of the supervisor or of the stage, when this process was
// started as one: then ok is true, and the caller exits with the code. main, and
// the TestMain of every package that starts commands, calls it before all else.
func Stage(args []string) (code int, ok bool) {
	if len(args) != 2 {
		return 0, false
	}
	switch args[1] {
	case partSupervisor:
		return supervise(), true
	case partStage:
		return stage(), true
	}
	return 0, false
}

// stage becomes the command. Its descriptors: 3 gives the request, 4 takes the
// reports and closes with exec.
func stage() int {
	runtime.LockOSThread() // the affinity and the death signal are this thread's, and execve keeps this one
	unix.CloseOnExec(3)
	unix.CloseOnExec(4)
	reports := gob.NewEncoder(os.NewFile(4, "reports"))
	var r request
	if err := gob.NewDecoder(os.NewFile(3, "request")).Decode(&r); err != nil {
		return 1 // the supervisor is gone
	}
	err := become(r, func() error { return reports.Encode(report{Used: used(unix.RUSAGE_SELF), At: procstat.Monotonic()}) })
	_ = reports.Encode(report{Error: err.Error()}) // one that cannot be sent has no reader
	return 1
}

// become ends in execve, or in an error. The group comes last, so that little of
// a small quota is used up before the command runs.
func become(r request, ready func() error) error {
	if err := os.Chdir(r.Dir); err != nil {
		return err
	}
	if err := setAffinity(r.CPUs); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("set the parent death signal: %w", err)
	}
	if os.Getppid() != r.Supervisor { // it died before the line above
		return fmt.Errorf("the supervisor is gone")
	}
	for _, file := range r.ProcsFiles {
		if err := enter(file); err != nil {
			return fmt.Errorf("enter the cgroup: %w", err)
		}
	}
	if err := defaultSignals(); err != nil {
		return fmt.Errorf("reset the signals: %w", err)
	}
	if err := ready(); err != nil {
		return err
	}
	// syscall.Exec also restores the limit of open files, which Go's runtime
	// raised.
	return fmt.Errorf("run %s: %w", r.Path, syscall.Exec(r.Path, r.Args, r.Env))
}

// enter moves this process, all its threads, into a cgroup: "0" means the
// writer.
func enter(procsFile string) error {
	f, err := os.OpenFile(procsFile, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("0")
	return err
}

// defaultSignals gives the command what a shell would: nothing ignored, nothing
// blocked. execve resets handlers, but keeps what procfit inherited as ignored
// (under nohup) and the mask.
func defaultSignals() error {
	var none unix.Sigset_t
	var action [8]uint64 // larger than struct sigaction of any architecture; all zero is SIG_DFL
	const signals, maskBytes = 64, 8
	for number := uintptr(1); number <= signals; number++ {
		if number == uintptr(unix.SIGKILL) || number == uintptr(unix.SIGSTOP) {
			continue
		}
		if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, number, uintptr(unsafe.Pointer(&action)), 0, maskBytes, 0, 0); errno != 0 {
			return fmt.Errorf("rt_sigaction %d: %w", number, errno)
		}
	}
	return unix.PthreadSigmask(unix.SIG_SETMASK, &none, nil)
}

// used is what this process (RUSAGE_SELF), or all that it waited for
// (RUSAGE_CHILDREN), took so far.
func used(who int) usage {
	var r unix.Rusage
	if unix.Getrusage(who, &r) != nil {
		return usage{}
	}
	const kilobyte = 1024 // the unit of ru_maxrss
	return usage{
		User: time.Duration(r.Utime.Nano()), System: time.Duration(r.Stime.Nano()),
		Voluntary: r.Nvcsw, Involuntary: r.Nivcsw,
		MaxRSSBytes: r.Maxrss * kilobyte,
	}
}

// setAffinity binds this thread to the CPUs, all of them or none: the kernel
// would silently leave out those that it does not grant.
func setAffinity(cpus []int) error {
	if cpus == nil {
		return nil
	}
	want, got, all := cpuset.Mask(cpus...), cpuset.Mask(), cpuset.Mask()
	_ = unix.SchedGetaffinityDynamic(0, all) // only for the message below
	err := unix.SchedSetaffinityDynamic(0, want)
	if err == nil {
		err = unix.SchedGetaffinityDynamic(0, got)
	}
	if err == nil && slices.Equal(got, want) && want.Count() == len(slices.Compact(slices.Sorted(slices.Values(cpus)))) { // one beyond the mask's size is not in it
		return nil
	}
	granted := slices.DeleteFunc(slices.Clone(cpus), func(cpu int) bool { return !all.IsSet(cpu) })
	message := fmt.Sprintf("cannot run on CPUs %v: of those, this process may use %v", cpus, granted)
	if err != nil {
		return fmt.Errorf("%s: %w", message, err)
	}
	return fmt.Errorf("%s", message)
}
