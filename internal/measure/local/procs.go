package local

import (
	"errors"
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/observe"
)

// readProcess reads the live GOMAXPROCS of one of a replica's processes, of which the
// command is the first.
func (r *run) readProcess(pid int, pids []int) trial.Reading {
	live, err := r.reader.Procs(pid)
	reading := trial.Reading{Procs: live.Procs, Source: string(live.Source), GoVersion: live.GoVersion, MainModule: live.MainModule, Err: err}
	if err == nil && len(pids) > 0 && pid != pids[0] {
		reading.Child = fmt.Sprintf("process %d", pid)
		if found, err := observe.Stand(pid); err == nil {
			reading.Child += " (" + found.Name + ")"
		}
	}
	return reading
}

// readServers reads that of the Go process that owns each replica's listening socket. The
// second time it reads the same process, if that still runs: to look for the socket takes
// the kernel some milliseconds.
func (r *run) readServers() ([]trial.Reading, error) {
	f := r.fleet
	var readings []trial.Reading
	for _, one := range f {
		pids := one.pids()
		if one.attached != nil { // whoever listens at the URL's port, a proxy say
			readings = append(readings, r.readBusiest(pids))
			one.program, _ = r.reader.BusiestGo(pids)
			continue
		}
		if r.looked && slices.Contains(pids, one.program) {
			readings = append(readings, r.readProcess(one.program, pids))
			continue
		}
		pid, err := observe.Listener(one.port, pids)
		var taken *observe.TakenError
		if errors.As(err, &taken) && f.crashed() == nil {
			return nil, fmt.Errorf("%w, which would be measured instead of the target: stop it, or write {port} in the command and the URL", err)
		}
		if err == nil {
			one.program, readings = pid, append(readings, r.readProcess(pid, pids))
			continue
		}
		// The socket may be out of sight (another host, another namespace): the
		// busiest Go program then stands for the server.
		one.program, _ = r.reader.BusiestGo(pids)
		readings = append(readings, r.readBusiest(pids))
	}
	return readings, nil
}

// readBusiest reads the Go process with the most CPU time.
func (r *run) readBusiest(pids []int) trial.Reading {
	if pid, ok := r.reader.BusiestGo(pids); ok {
		return r.readProcess(pid, pids)
	}
	return trial.NoProgram(&r.reader, pids)
}
