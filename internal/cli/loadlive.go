package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/show/number"
)

// loadLive prints on stderr how a run of the load goes: one line that is redrawn every
// second on a terminal, elsewhere a line every few seconds.
type loadLive struct {
	out      io.Writer
	screen   liveScreen
	duration time.Duration
	errors   int64                   // so far
	seconds  int                     // that were counted
	latency  *hdrhistogram.Histogram // of those that are not yet in a line
	pending  int                     // how many these are
}

func newLive(std stdio, duration time.Duration) *loadLive {
	return &loadLive{out: std.err, screen: newScreen(std.err), duration: duration}
}

// second takes what came in a second.
func (l *loadLive) second(i load.Interval) {
	l.seconds++
	if l.pending == 0 {
		l.latency = i.Latency
	} else {
		l.latency.Merge(i.Latency)
	}
	l.pending++
	if at := time.Duration(l.seconds) * time.Second; at > l.duration || !l.screen.there() && l.pending < 5 { // seconds
		return
	}
	line := l.line()
	l.pending = 0
	if l.screen.there() {
		l.screen.line(line)
		return
	}
	fmt.Fprintln(l.out, "procfit: "+line)
}

func (l *loadLive) line() string {
	at := func(q float64) string { return number.Duration(time.Duration(l.latency.ValueAtQuantile(q))) }
	line := fmt.Sprintf("%s of %s: %s req/s", number.Short(number.Seconds(float64(l.seconds))), number.Chosen(l.duration), number.Count(float64(l.latency.TotalCount())/float64(l.pending)))
	if l.latency.TotalCount() > 0 {
		line += fmt.Sprintf(", p50 %s, p99 %s, max %s", at(50), at(99), at(100))
	}
	if l.errors > 0 {
		line += fmt.Sprintf("; %d failed so far", l.errors)
	}
	return line
}
