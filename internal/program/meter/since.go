package meter

import (
	"errors"

	"github.com/procfit/procfit/maxprocs/live"
)

// ErrRestarted is that a reading does not come after another one of the same process.
var ErrRestarted = errors.New("the program was restarted during the measurement")

// mostBuckets is above what any Meter has: later ones would be of no duration.
const mostBuckets = 512

// Since is what was counted between two readings. At and InFlight are those of the second.
func Since(from, to live.Metrics) (live.Metrics, error) {
	if len(to.Arrival.Counts) > mostBuckets || len(to.Handler.Counts) > mostBuckets || len(to.Ready.Counts) > mostBuckets {
		return to, errors.New("its histogram has more buckets than one of maxprocs/live")
	}
	if !grew(from, to) {
		return to, ErrRestarted
	}
	return live.Metrics{
		At: to.At, InFlight: to.InFlight,
		Requests: to.Requests - from.Requests, Failed: to.Failed - from.Failed, Panics: to.Panics - from.Panics, Slow: to.Slow - from.Slow,
		Streams: to.Streams - from.Streams, Hijacked: to.Hijacked - from.Hijacked,
		CPU: to.CPU - from.CPU, GCCPU: to.GCCPU - from.GCCPU, GCCycles: to.GCCycles - from.GCCycles,
		Arrival: to.Arrival.Since(from.Arrival), Handler: to.Handler.Since(from.Handler), Ready: to.Ready.Since(from.Ready),
	}, nil
}

// grew reports whether a reading can come after another: nothing that is counted becomes
// less.
func grew(from, to live.Metrics) bool {
	for _, pair := range [][2]uint64{
		{from.Requests, to.Requests}, {from.Failed, to.Failed}, {from.Panics, to.Panics}, {from.Slow, to.Slow},
		{from.GCCycles, to.GCCycles}, {from.Streams, to.Streams}, {from.Hijacked, to.Hijacked},
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
	return to.At > from.At && to.CPU >= from.CPU && to.GCCPU >= from.GCCPU
}
