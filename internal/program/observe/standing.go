package observe

import (
	"errors"
	"fmt"

	"github.com/procfit/procfit/internal/host/procstat"
)

// Standing is a process that runs already, and that nobody here has started.
type Standing struct {
	PID     int
	Name    string
	Started uint64 // in ticks since boot; with the PID it names one process
}

// Stand finds the process; the error is ErrNoProcess, or that this system is not Linux.
func Stand(pid int) (Standing, error) {
	stat, err := procstat.ReadStat(pid)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return Standing{}, err
	case err != nil:
		return Standing{}, fmt.Errorf("process %d: %w", pid, ErrNoProcess)
	}
	return Standing{PID: pid, Name: name(pid, stat.Name), Started: stat.Started}, nil
}

// StandAt finds the process that listens at a TCP port of this network namespace. The
// error is ErrNoListener where nobody does, and a *TakenError where it cannot be seen who.
func StandAt(port int) (Standing, error) {
	_, err := Listener(port, nil)
	var by *TakenError
	if !errors.As(err, &by) {
		return Standing{}, err
	}
	if by.PID == 0 {
		return Standing{}, by
	}
	return Stand(by.PID)
}

// Gone tells that the process has ended.
func (s Standing) Gone() bool {
	stat, err := procstat.ReadStat(s.PID)
	return err != nil || stat.Started != s.Started || stat.Ended()
}
