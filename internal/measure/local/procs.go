package local

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/program/observe"
)

// readProcess reads the live GOMAXPROCS of one of a replica's processes; the command is the first.
func (r *run) readProcess(pid int, pids []int) trial.Reading {
	live, err := r.reader.Live(pid)
	reading := trial.Reading{Procs: live.Procs, Source: string(live.Source), GoVersion: live.GoVersion, MainModule: live.MainModule, Package: live.Path, Err: err}
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
	var readings []trial.Reading
	for _, one := range r.fleet {
		pids := one.pids()
		if one.attached == nil && r.looked && slices.Contains(pids, one.program) {
			readings = append(readings, r.readProcess(one.program, pids))
			continue
		}
		if one.attached == nil {
			pid, err := observe.Listener(one.port, pids)
			if _, taken := errors.AsType[*observe.TakenError](err); taken && r.fleet.crashed() == nil {
				if reading := r.readBusiest(pids); reading.IsClient() { // of the one that listens, in a container
					readings = append(readings, reading)
					continue
				}
				return nil, fmt.Errorf("%w, which would be measured instead of the target: stop it, or write {port} in the command and the URL", err)
			}
			if err == nil {
				one.program, readings = pid, append(readings, r.readListener(pid, pids))
				continue
			}
		}
		// The socket may be out of sight (another host, another namespace), or a proxy's: the
		// busiest Go program then stands for the server.
		one.program, _ = r.reader.FindGo(pids)
		readings = append(readings, r.readBusiest(pids))
	}
	return readings, nil
}

// readListener reads the process that listens. Where that is no Go program, another of the
// target's does not stand for it, as its launcher or what it passes requests on to.
func (r *run) readListener(pid int, pids []int) trial.Reading {
	reading := r.readProcess(pid, pids)
	if errors.Is(reading.Err, observe.ErrNotGo) {
		if _, err := r.reader.FindGo(pids); err != nil {
			return r.noProgram(pids)
		}
	}
	return reading
}

func (r *run) readBusiest(pids []int) trial.Reading {
	if pid, err := r.reader.FindGo(pids); err == nil {
		return r.readProcess(pid, pids)
	}
	return r.noProgram(pids)
}

// noProgram is the Reading where no Go program was found. Only a refusal names the programs, so
// with --any-program nobody looks for their names.
func (r *run) noProgram(pids []int) trial.Reading {
	reading := trial.NoProgram(&r.reader, pids)
	if reading.NoGo && !r.spec.Target.AnyProgram {
		reading.Programs = trial.Names(pids)
		// A launcher may have started its program since, whose name that then is.
		if pid, err := r.reader.FindGo(pids); err == nil {
			return r.readProcess(pid, pids)
		}
	}
	return reading
}

type watcher struct {
	began    time.Time
	changed  *float64 // when it changed for the last time; nil: it did not
	restarts int      // how often the process was replaced
	pid      int
	procs    int    // 0: not known yet
	end      func() // ends it; it may be called again
}

// follow starts to watch. What it saw is known after its end.
func (h *rehearsal) follow(one *run) *watcher {
	w := &watcher{began: time.Now(), pid: one.fleet[0].program}
	w.look(h, one)
	w.end = wait.Every(lookEvery, func() { w.look(h, one) })
	return w
}

func (w *watcher) look(h *rehearsal, one *run) {
	live, err := h.reader.Live(w.pid)
	if err != nil {
		if now, err := h.reader.FindGo(one.fleet.pids()); err == nil && now != w.pid {
			w.pid, w.restarts = now, w.restarts+1
		}
		return
	}
	if w.procs > 0 && live.Procs != w.procs {
		w.changed = new(time.Since(w.began).Seconds())
	}
	w.procs = live.Procs
}
