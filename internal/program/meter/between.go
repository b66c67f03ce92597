package meter

import (
	"errors"
	"fmt"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/maxprocs/live"
)

// ErrRestarted is that a reading does not come after another one of the same process.
var ErrRestarted = errors.New("the program was restarted during the measurement")

// Between is what a program counted between two readings, and took is the time between them: At is
// by a clock that may be set meanwhile. At and InFlight are those of the second.
// What so many CPUs cannot have done is an error; 0: how many it has is not known.
func Between(from, to live.Metrics, took time.Duration, cpus int) (live.Metrics, error) {
	if !grew(from, to) {
		return to, ErrRestarted
	}
	since := live.Metrics{
		At: to.At, InFlight: to.InFlight,
		Requests: to.Requests - from.Requests, Failed: to.Failed - from.Failed, Panics: to.Panics - from.Panics,
		Streams: to.Streams - from.Streams, Hijacked: to.Hijacked - from.Hijacked,
		CPU: to.CPU - from.CPU, GCCPU: to.GCCPU - from.GCCPU, GCCycles: to.GCCycles - from.GCCycles,
		Arrival: to.Arrival.Since(from.Arrival), Handler: to.Handler.Since(from.Handler), Ready: to.Ready.Since(from.Ready),
	}
	if from.GCCycles == 0 || to.GCCycles == 0 { // not known of one of them
		since.GCCycles, since.GCCPU = 0, 0
	}
	return since, possible(since, took, cpus)
}

const (
	// mostCounted is more requests than a CPU can count in a second: the Meter takes longer
	// than 10 ns for each.
	mostCounted = 1e8
	// mostInFlight is more requests than fit into the memory of a machine.
	mostInFlight = 1e9
	// notAtOnce is how far apart the numbers of one reading may be taken.
	notAtOnce = time.Second
)

// possible says which number a program with so many CPUs cannot have. Without a number of
// CPUs nothing is known.
func possible(m live.Metrics, took time.Duration, cpus int) error {
	if cpus < 1 {
		return nil
	}
	had := float64(cpus) * (took + notAtOnce).Seconds()
	wrong := func(value, why string) error {
		return fmt.Errorf("the program's Meter reports %s in %s, which cannot be: %s; its numbers are wrong", value, number.Short(number.Duration(took)), why)
	}
	for _, counted := range []struct {
		what string
		n    uint64
	}{
		{"requests", m.Requests}, {"failed requests", m.Failed}, {"panics", m.Panics},
		{"requests of HTTP/2", m.Streams}, {"hijacked connections", m.Hijacked}, {"collections", m.GCCycles},
	} {
		if float64(counted.n) > mostCounted*had {
			return wrong(fmt.Sprintf("%.3g %s", float64(counted.n), counted.what), number.CPUs(float64(cpus))+" count at most "+number.Count(mostCounted)+" per second each")
		}
	}
	switch {
	case m.InFlight > mostInFlight:
		return wrong(fmt.Sprintf("%.3g requests in flight", float64(m.InFlight)), "no machine has the memory for them")
	case m.CPU > had:
		return wrong(fmt.Sprintf("%.3g s of CPU time", m.CPU), number.CPUs(float64(cpus))+" cannot give as much")
	}
	return nil
}

// grew reports whether a reading can come after another: nothing that is counted becomes
// less.
func grew(from, to live.Metrics) bool {
	for _, pair := range [][2]uint64{
		{from.Requests, to.Requests}, {from.Failed, to.Failed}, {from.Panics, to.Panics},
		{from.Streams, to.Streams}, {from.Hijacked, to.Hijacked},
	} {
		if pair[1] < pair[0] {
			return false
		}
	}
	for _, pair := range [][2]live.Histogram{{from.Arrival, to.Arrival}, {from.Handler, to.Handler}, {from.Ready, to.Ready}} {
		for i, n := range pair[0].Counts {
			if i >= len(pair[1].Counts) && n > 0 || i < len(pair[1].Counts) && pair[1].Counts[i] < n {
				return false
			}
		}
	}
	if from.GCCycles > 0 && to.GCCycles > 0 && (to.GCCycles < from.GCCycles || to.GCCPU < from.GCCPU) {
		return false
	}
	return to.CPU >= from.CPU
}
