package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/trace/sched"
)

// maxWaits wait reasons are listed; the runtime knows some 50.
const maxWaits = 10

// levels are how many of each there were: the least, on average, and the most.
func levels(st *sched.Stats) []document.Block {
	t := document.Table{Columns: []document.Column{{Head: "", Short: " ", Left: true}, {Head: "min", Short: "min"}, {Head: "mean", Short: "mean"}, {Head: "max", Short: "max"}}}
	for _, row := range []struct {
		name   string
		level  *sched.Level
		format func(float64) string
	}{
		{"idle Ps", st.IdleProcs, number.Amount}, {"queued on Ps", st.LocalQueues, number.Amount}, {"queued globally", st.GlobalQueue, number.Amount},
		{"imbalance of the queues", st.Misplaced, number.Share}, {"threads", st.Threads, number.Amount}, {"idle threads", st.IdleThreads, number.Amount},
		{"spinning", st.Spinning, number.Amount},
	} {
		if l := row.level; l != nil {
			t.Rows = append(t.Rows, document.Row{Cells: []document.Cell{{Value: row.name}, {Value: row.format(l.Min)}, {Value: row.format(l.Mean)}, {Value: row.format(l.Max)}}})
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return []document.Block{t}
}

func facts(st *sched.Stats) (out document.Pairs) {
	samples := func(name string, n int64, of *sched.Level) {
		if of != nil && of.N > 0 {
			out = append(out, document.Pair{Name: name, Value: number.Share(float64(n)/float64(of.N)) + " of " + phrase.Count(of.N, "sample")})
		}
	}
	level := func(name, unit string, l *sched.Level) {
		switch {
		case l == nil:
		case l.Min == l.Max:
			out = append(out, document.Pair{Name: name, Value: number.Amount(l.Mean) + unit + " all the time"})
		default:
			out = append(out, document.Pair{Name: name, Value: fmt.Sprintf("%s%s on average, %s to %s", number.Amount(l.Mean), unit, number.Amount(l.Min), number.Amount(l.Max))})
		}
	}
	samples("All Ps busy", st.AllBusy, st.IdleProcs)
	samples("All Ps idle", st.AllIdle, st.IdleShare)
	if st.IdleQueued != nil {
		samples("Idle Ps while goroutines wait", *st.IdleQueued, st.Queued)
	}
	level("Threads without a P (estimate)", "", st.OffProcThreads)
	if st.TicksPerSecond != nil {
		out = append(out, document.Pair{Name: "Time slices started", Value: number.Amount(*st.TicksPerSecond) + " per second"})
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
			out = append(out, document.Pair{Name: "Incomplete detail lines", Value: fmt.Sprint(d.LinesBroken)})
		}
	}
	return out
}

// waits are what the program's own goroutines wait for, and a line on the others.
func waits(st *sched.Stats) []document.Block {
	if st.Detail == nil {
		return nil
	}
	t := document.Table{Columns: []document.Column{{Head: "reason", Short: "reason", Left: true}, {Head: "mean", Short: "mean", Bars: true}, {Head: "most", Short: "most"}}}
	var runtime []string
	most := 0.0
	for _, r := range st.Detail.Reasons {
		if r.System {
			runtime = append(runtime, number.Amount(r.Mean)+" in "+phrase.Clean(r.Name))
			continue
		}
		most = max(most, r.Mean)
		if len(t.Rows) == maxWaits || most == 0 {
			continue
		}
		t.Rows = append(t.Rows, document.Row{Cells: []document.Cell{{Value: phrase.Clean(r.Name)}, {Value: number.Amount(r.Mean), Bar: r.Mean / most}, {Value: number.Amount(float64(r.Max))}}})
	}
	list := []document.Block{heading("What goroutines wait for")}
	if len(t.Rows) > 0 {
		list = append(list, t)
	}
	if runtime != nil {
		list = append(list, document.Text{Text: "The runtime's own goroutines: " + strings.Join(runtime, ", ") + ", on average.", Style: document.Small})
	}
	if len(list) == 1 {
		return nil
	}
	return list
}

// sentence starts with a capital and ends with a full stop. What starts with a
// quoted command or a name stays as it is.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	s = phrase.Capital(s)
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "…") {
		return s
	}
	return s + "."
}

// span is "8", or "2 to 8".
func span(l *sched.Level) string {
	if l.Min == l.Max {
		return number.Amount(l.Min)
	}
	return number.Amount(l.Min) + " to " + number.Amount(l.Max)
}

// duration is how long something took that was counted in milliseconds.
func duration(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d < 2*time.Minute {
		return number.Short(number.Duration(d))
	}
	return number.Minutes(d)
}

// waiting is what waited on each P and what it did: a row for each of the first briefProcs
// Ps, or, where there are more, for those with the longest queues.
func waiting(st *sched.Stats) []document.Block {
	list := slices.DeleteFunc(slices.Clone(st.PerProc), func(p sched.ProcLoad) bool { return p.Queue == nil })
	if len(list) == 0 {
		return nil
	}
	var longest, largest float64
	slicesKnown := false // since Go 1.25, or with scheddetail
	for _, p := range list {
		longest = max(longest, p.Queue.Mean)
		if p.TickShare != nil {
			largest, slicesKnown = max(largest, *p.TickShare), true
		}
	}
	var rest []string
	if len(list) > briefProcs {
		sorting.Stable(list, func(a, b sched.ProcLoad) int { return cmp.Compare(b.Queue.Mean, a.Queue.Mean) })
		var others sched.Level
		for _, p := range list[briefProcs:] {
			others.Mean += p.Queue.Mean
			others.Max = max(others.Max, p.Queue.Max)
		}
		rest = append(rest, fmt.Sprintf("%d more Ps have shorter queues: %s waiting on all of them together on average, at most %s on one", len(list)-briefProcs, number.Amount(others.Mean), number.Amount(others.Max)))
		list = list[:briefProcs]
		sorting.Stable(list, func(a, b sched.ProcLoad) int { return a.Proc - b.Proc })
	}
	t := document.Table{Columns: []document.Column{{Head: "P", Short: "P", Left: true}, {Head: "mean queue", Short: "mean", Bars: true}, {Head: "longest", Short: "max"}, {Head: "share of all", Short: "share"}}}
	if slicesKnown {
		t.Columns = append(t.Columns, document.Column{Head: "time slices started"}, document.Column{Head: "share of all", Short: "time slices", Bars: true})
	}
	for _, p := range list {
		row := []document.Cell{{Value: "P " + strconv.Itoa(p.Proc)}, {Value: number.Amount(p.Queue.Mean), Bar: part(p.Queue.Mean, longest)}, {Value: number.Amount(p.Queue.Max)}, {}}
		if p.QueueShare != nil {
			row[3].Value = number.Share(*p.QueueShare)
		}
		if slicesKnown {
			row = append(row, document.Cell{}, document.Cell{})
			if p.Ticks != nil {
				row[4].Value = strconv.FormatInt(*p.Ticks, 10)
			}
			if p.TickShare != nil {
				row[5] = document.Cell{Value: number.Share(*p.TickShare), Bar: part(*p.TickShare, largest)}
			}
		}
		t.Rows = append(t.Rows, document.Row{Cells: row})
	}
	if st.Untracked > 0 {
		rest = append(rest, fmt.Sprintf("%d more Ps are only in the sums", st.Untracked))
	}
	return []document.Block{heading("Waiting on each P"), t, document.Text{Text: sentence(strings.Join(rest, "; ")), Style: document.Small}}
}

func part(of, longest float64) float64 {
	if longest == 0 {
		return 0
	}
	return of / longest
}
