package view

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/trace/sched"
)

// maxWaits wait reasons are listed; the runtime knows some 50.
const maxWaits = 10

func facts(st *sched.Stats) []Fact {
	var out []Fact
	samples := func(name string, n int64, of *sched.Level) {
		if of != nil && of.N > 0 {
			out = append(out, Fact{name, number.Share(float64(n)/float64(of.N)) + " of " + phrase.Count(of.N, "sample")})
		}
	}
	level := func(name, unit string, l *sched.Level) {
		switch {
		case l == nil:
		case l.Min == l.Max:
			out = append(out, Fact{name, number.Amount(l.Mean) + unit + " all the time"})
		default:
			out = append(out, Fact{name, fmt.Sprintf("%s%s on average, %s to %s", number.Amount(l.Mean), unit, number.Amount(l.Min), number.Amount(l.Max))})
		}
	}
	samples("All Ps busy", st.AllBusy, st.IdleProcs)
	samples("All Ps idle", st.AllIdle, st.IdleShare)
	samples("Idle Ps beside a queue", st.IdleQueued, st.IdleProcs)
	level("Threads off the Ps, about", "", st.OffProcThreads)
	if st.TicksPerSecond != nil {
		out = append(out, Fact{"Time slices begun", number.Amount(*st.TicksPerSecond) + " a second"})
	}
	level("Between two samples", " ms", st.IntervalMillis)
	if d := st.Detail; d != nil {
		level("Goroutines", "", d.Goroutines)
		level("runnable", "", d.Runnable)
		level("running", "", d.Running)
		level("in system calls", "", d.InSyscall)
		level("waiting", "", d.Waiting)
		level("Threads in system calls or C", "", d.OffProcThreads)
		if d.LinesBroken > 0 {
			out = append(out, Fact{"Lines of detail that break off", fmt.Sprint(d.LinesBroken)})
		}
	}
	return out
}

// waits are those of the program's own goroutines, and a line on the others.
func waits(st *sched.Stats) (list []Wait, runtime string) {
	if st.Detail == nil {
		return nil, ""
	}
	most := 0.0
	for _, r := range st.Detail.Reasons {
		if r.System {
			if runtime != "" {
				runtime += ", "
			}
			runtime += number.Amount(r.Mean) + " in " + phrase.Clean(r.Name)
			continue
		}
		most = max(most, r.Mean)
		if len(list) == maxWaits || most == 0 {
			continue
		}
		list = append(list, Wait{Name: phrase.Clean(r.Name), Mean: number.Amount(r.Mean), Max: number.Amount(float64(r.Max)), At: r.Mean / most})
	}
	if runtime != "" {
		runtime = "The runtime's own goroutines: " + runtime + ", on average."
	}
	return list, runtime
}
