//go:build !portable

package supervisor

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// start starts the command by way of the stage, and returns when exec has
// happened or failed.
func (s *supervisor) start() error {
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
	return s.awaitExec(gob.NewDecoder(reportR))
}

// fork starts the stage, closes what is its alone, and begins to read the
// command's output.
func (s *supervisor) fork(requestR, reportW *os.File) error {
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	s.outPipe = outR
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	// A command that prints must not wait for the supervisor's turn on a busy
	// CPU; the default of 64 KiB fills in well under a time slice.
	_, _ = unix.FcntlInt(outW.Fd(), unix.F_SETPIPE_SZ, 256<<10)
	standard := []uintptr{null.Fd(), outW.Fd(), outW.Fd()}
	if s.request.Streams {
		standard = []uintptr{firstFile, firstFile + 1, firstFile + 2}
	}
	s.request.Supervisor = os.Getpid()
	s.pid, err = syscall.ForkExec("/proc/self/exe", []string{"procfit", partStage}, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: append(standard, requestR.Fd(), reportW.Fd()),
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	for _, f := range []*os.File{null, outW, requestR, reportW} {
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
	go func() {
		_, _ = io.Copy(s.output, outR) // ends with the last writer, or by finishLog
		close(s.drained)
	}()
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
	s.started = time.Now()
	return nil
}

func (s *supervisor) openLog() {
	s.drained = make(chan struct{})
	if !s.request.Log {
		s.output, s.logFile = newHeadTail(io.Discard, 0), io.NopCloser(nil)
		return
	}
	f := os.NewFile(firstFile, "log")
	s.output, s.logFile = newHeadTail(f, s.request.LogLimit), f
}

// finishLog waits for the end of the output and writes the rest of the log.
func (s *supervisor) finishLog() error {
	_ = s.outPipe.SetReadDeadline(time.Now().Add(drainPatience))
	<-s.drained
	return errors.Join(s.output.Close(), s.logFile.Close())
}
