package sched

import (
	"fmt"
	"strconv"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// The severities of a Reading. A trace informs: nothing in it is an error.
const (
	Info    = "info"
	Warning = "warning"
)

// Reading is one thing that a trace says, in words.
type Reading struct {
	ID       string `json:"id"`
	Severity string `json:"severity"`
	Text     string `json:"text"`             // what was seen, with its numbers
	Advice   string `json:"advice,omitempty"` // what it means and what to do
}

// minSamples is the fewest from which shares are read: with 10, one that is seen
// as 80% may be 44 to 97% (95% interval), and samples in a row are not even
// independent.
const minSamples = 10

// Readings puts a summary into words: first what qualifies the rest, then what
// the longest segment says.
func Readings(s *Summary) []Reading {
	all := []Reading{}
	put := func(r *Reading) {
		if r != nil {
			all = append(all, *r)
		}
	}
	put(readError(s))
	put(unread(s))
	put(several(s))
	if s.Interleaved() {
		return all // a figure of several processes is one of none
	}
	put(changed(s))
	put(few(s))
	if s.Main == nil || s.Main.Samples < minSamples {
		return all
	}
	put(idle(&s.Main.Stats, s.Run))
	for _, rule := range []func(*Stats) *Reading{
		busy, idleQueued, queueSkew, blockedThreads, locks, waits,
	} {
		put(rule(&s.Main.Stats))
	}
	if s.Skipped.Count*20 <= s.Counts.Samples { // else the gap may be what could not be read
		put(late(&s.Main.Stats, s.Run))
	}
	return all
}

func readError(s *Summary) *Reading {
	if s.ReadError == "" {
		return nil
	}
	return &Reading{ID: "read-error", Severity: Warning,
		Text: fmt.Sprintf("the log could not be read beyond byte %d: %s", s.Counts.Bytes, s.ReadError)}
}

func unread(s *Summary) *Reading {
	if s.Skipped.Count == 0 {
		return nil
	}
	r := &Reading{ID: "unread", Severity: Info,
		Text:   fmt.Sprintf("%s could not be read; %s could", phrase.CountOf(s.Skipped.Count, "line of a trace", "lines of a trace"), phrase.Count(s.Counts.Samples, "sample")),
		Advice: "other output came between the runtime's writes, or the log is cut off; procfit skips those lines",
	}
	if len(s.Skipped.First) > 0 {
		r.Text += "; the first: " + s.Skipped.First[0].String()
	}
	if s.Skipped.Count*10 > s.Counts.Samples {
		r.Severity = Warning
	}
	return r
}

// inherited is what to do about a log of several processes.
const inherited = "trace one process: build the program and run the binary, since `go run` and `go test` pass GODEBUG to the go command and the compiler too, and every program passes it to the programs that it starts"

// several: which of the processes in the log the rest is about, or that it cannot be about one.
func several(s *Summary) *Reading {
	switch {
	case s.Main == nil || s.SegmentCount < 2 && !s.Main.Mixed:
		return nil
	case s.Main.Mixed:
		return &Reading{ID: "interleaved", Severity: Warning,
			Text:   fmt.Sprintf("several processes write to this log at the same time: line %d is the first that shows it, and their lines cannot be separated", s.Unclear),
			Advice: inherited}
	}
	rest := fmt.Sprintf("the results are of the process with the most samples, in lines %d to %d", s.Main.FirstLine, s.Main.LastLine)
	if s.Main.Samples == 0 {
		rest = "none wrote a second line"
	}
	return &Reading{ID: "processes", Severity: Info, Text: fmt.Sprintf("the log has %d processes, one after the other; %s", s.SegmentCount, rest)}
}

func changed(s *Summary) *Reading {
	if s.ChangeCount == 0 || len(s.Changes) == 0 {
		return nil
	}
	c := s.Changes[0]
	r := &Reading{ID: "gomaxprocs-changed", Severity: Info,
		Text:   fmt.Sprintf("GOMAXPROCS changed from %d to %d by %d ms (line %d)", c.From, c.To, c.Millis, c.Line),
		Advice: "the program set it (runtime.GOMAXPROCS, automaxprocs), or Go 1.25 and newer followed the CPU limit; `procfit explain` shows which",
	}
	if s.ChangeCount > 1 {
		r.Text += fmt.Sprintf(", and %s more", times(s.ChangeCount-1))
	}
	return r
}

func few(s *Summary) *Reading {
	if s.Main == nil || s.Counts.Samples == 0 {
		return &Reading{ID: "no-samples", Severity: Warning,
			Text:   fmt.Sprintf("no sample in %s", phrase.Count(s.Counts.Lines, "line")),
			Advice: s.Run.oftener("run the program with GODEBUG=schedtrace=1000 and read its standard error"),
		}
	}
	if s.Main.Samples >= minSamples {
		return nil
	}
	return &Reading{ID: "few-samples", Severity: Warning,
		Text:   fmt.Sprintf("only %s of one process after its start: too few to calculate shares", phrase.Count(s.Main.Samples, "sample")),
		Advice: fmt.Sprintf("%s: at least %d samples, better 60", s.Run.oftener("trace for longer or at shorter intervals, for example with GODEBUG=schedtrace="+shorter(s.Main)), minSamples),
	}
}

// oftener is how a command that procfit ran gives more samples; ofLog is said of a log.
func (r Run) oftener(ofLog string) string {
	twentieth := max(time.Millisecond, (r.Wall / 20).Truncate(time.Millisecond)) // a run like this one then has 20
	switch {
	case r.Interval <= 0:
		return ofLog
	case r.Interval <= time.Millisecond:
		return "give the program more to do"
	case r.Wall <= 0, twentieth >= r.Interval:
		return "trace it for longer, or at shorter intervals with --interval " + max(time.Millisecond, min(10*time.Millisecond, r.Interval/10)).String()
	}
	return fmt.Sprintf("trace it again with --interval %s, as it took %s", twentieth, number.Short(number.Seconds(r.Wall.Seconds())))
}

// shorter is the setting of schedtrace that gives a process as long as this one 20 samples:
// one that wrote less than two, or ran for less than two seconds, needs the runtime's shortest.
func shorter(p *Segment) string {
	if p.ToMillis-p.FromMillis < 20*100 {
		return "10"
	}
	return "100"
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return phrase.Count(n, "time")
}

func share(part, n int64) float64 {
	if n == 0 {
		return 0
	}
	return float64(part) / float64(n)
}

// procsList is "P 0", "Ps 0 and 1", "Ps 0, 1 and 5".
func procsList(ids []int) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(id)
	}
	switch len(words) {
	case 0:
		return "no P"
	case 1:
		return "P " + words[0]
	}
	return "Ps " + phrase.And(words)
}

// userWaits are the wait reasons of the program's own goroutines, and how many
// wait so on average.
func userWaits(st *Stats) (reasons []ReasonStats, sum float64) {
	if st.Detail == nil || st.Detail.Samples < minSamples {
		return nil, 0
	}
	for _, r := range st.Detail.Reasons {
		if !r.System {
			reasons = append(reasons, r)
			sum += r.Mean
		}
	}
	return reasons, sum
}

// locks: a quarter of the waiting goroutines, and four at least, wait for a lock
// of package sync.
func locks(st *Stats) *Reading {
	reasons, sum := userWaits(st)
	var held float64
	for _, r := range reasons {
		if isLockWait(r.Name) {
			held += r.Mean
		}
	}
	if held < 4 || held < sum/4 {
		return nil
	}
	return &Reading{ID: "lock-waits", Severity: Warning,
		Text:   fmt.Sprintf("%s of %s waiting goroutines wait for a sync.Mutex or sync.RWMutex, over %d samples", number.Amount(held), number.Amount(sum), st.Detail.Samples),
		Advice: "only one goroutine at a time can hold a lock: more Ps do not shorten that queue and may lengthen it. Take a mutex profile",
	}
}

// waits: what most of the waiting goroutines wait for, where four at least do.
func waits(st *Stats) *Reading {
	reasons, sum := userWaits(st)
	if len(reasons) == 0 || reasons[0].Mean < 4 || reasons[0].Mean < sum/2 || isLockWait(reasons[0].Name) {
		return nil
	}
	return &Reading{ID: "waits", Severity: Info,
		Text: fmt.Sprintf("%s of %s waiting goroutines wait in %q, over %d samples", number.Amount(reasons[0].Mean), number.Amount(sum), reasons[0].Name, st.Detail.Samples)}
}
