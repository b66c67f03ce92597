package exec

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unique"

	"golang.org/x/exp/trace"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

type goroutine struct {
	Goroutine
	logged bool
	asked  int  // stacks looked at for its function
	batch  bool // what it waits for may end for others with it

	// While it is ready:
	readyProc int // NoProc: in no P's queue
	readyAt   time.Duration
	readyHow  Origin // what a start on another P is; Own marks a P's queue
	epoch     int

	// While it runs, or is in a system call that started on a P:
	running bool
	syscall bool
	proc    int
	since   time.Duration
	origin  Origin
}

// firstFakeProc and those beyond stand for the poller, timers and system calls in
// traces of Go 1.21 and before.
const firstFakeProc = 1_000_000

// procOf is the P that the event happened on.
func procOf(ev *trace.Event) int {
	if p := ev.Proc(); p != trace.NoProc && p < firstFakeProc {
		return int(p)
	}
	return NoProc
}

// maxStacks are looked at for a goroutine's function.
const maxStacks = 8

// meet learns from an event that the goroutine itself caused.
func (g *goroutine) meet(ev *trace.Event, now time.Duration) {
	if at := procOf(ev); g.running && g.proc == NoProc && at != NoProc {
		g.proc, g.since = at, now // it ran as the trace started
	}
	if g.Func == "" && g.asked < maxStacks {
		g.asked++
		g.named(outermost(ev.Stack()))
	}
}

func outermost(s trace.Stack) string {
	name := ""
	for f := range s.Frames() {
		if f.Func != "runtime.goexit" && (f.Func != "runtime.main" || name == "") {
			name = f.Func
		}
	}
	return name
}

func innermost(s trace.Stack) string {
	for f := range s.Frames() {
		return f.Func
	}
	return ""
}

func (g *goroutine) named(function string) {
	if function == "" || g.Func != "" {
		return
	}
	g.Func = phrase.Clip(phrase.Clean(function), maxName)
	g.Runtime = (strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "runtime/trace.")) && function != "runtime.main"
	if !g.logged {
		g.Name = g.Func
	}
}

func (b *builder) goroutine(ev *trace.Event, st trace.StateTransition) {
	from, to := st.Goroutine()
	id := st.Resource.Goroutine()
	g := b.live[id]
	if g == nil {
		if to == trace.GoNotExist {
			return
		}
		g = &goroutine{proc: NoProc, readyProc: NoProc, readyHow: Unknown}
		g.Goroutine = Goroutine{ID: int64(id), Seen: b.now, ReadyProc: NoProc, FirstProc: NoProc, Procs: []ProcTime{}, order: b.trace.GoroutineCount}
		b.trace.GoroutineCount++
		b.live[id] = g
	}
	if from == trace.GoNotExist {
		g.named(innermost(st.Stack))
	}
	at := procOf(ev)
	if from == to {
		return // a reminder at the start of a generation
	}
	switch to {
	case trace.GoRunnable:
		g.stop(b, reason(st, "runnable"))
		b.ready(g, from, at)
	case trace.GoRunning:
		if from == trace.GoSyscall && g.syscall && g.proc == at {
			g.stop(b, "")
			b.run(g, at, Return)
			break
		}
		g.stop(b, "")
		b.start(g, from, at)
	case trace.GoWaiting:
		g.batch = inBatch(st, from)
		g.stop(b, reason(st, "waits"))
		b.leave(g)
	case trace.GoSyscall:
		g.stop(b, "syscall")
		if from == trace.GoUndetermined {
			at = NoProc // where this was written, not where it is
		}
		g.syscall, g.proc, g.since = true, at, b.now
		if at != NoProc {
			b.proc(at).holder = g
		}
	case trace.GoNotExist:
		g.stop(b, "ends")
		b.leave(g)
		b.keep(g)
		delete(b.live, id)
	}
}

func reason(st trace.StateTransition, other string) string {
	if st.Reason == "" {
		return other
	}
	return unique.Make(phrase.Clip(phrase.Clean(st.Reason), maxName)).Value() // the spans share the few that there are
}

func (b *builder) run(g *goroutine, at int, origin Origin) {
	g.running, g.proc, g.since, g.origin = true, at, b.now, origin
}

// stop ends what the goroutine does, a span or a system call.
func (g *goroutine) stop(b *builder, why string) {
	took := b.now - g.since
	switch {
	case g.syscall:
		g.syscall = false
		if g.proc != NoProc {
			p := b.proc(g.proc)
			p.Syscalls += took
			p.holder = nil
		}
	case g.running:
		g.running = false
		b.span(g, took, why)
	}
	g.proc = NoProc
}

func (b *builder) span(g *goroutine, took time.Duration, why string) {
	g.Running += took
	g.Spans++
	if g.proc != NoProc {
		p := b.proc(g.proc)
		p.Running += took
		if g.Runtime {
			p.Runtime += took
		}
		i := slices.IndexFunc(g.Procs, func(t ProcTime) bool { return t.Proc == g.proc })
		if i < 0 {
			i = len(g.Procs)
			g.Procs = append(g.Procs, ProcTime{Proc: g.proc})
		}
		g.Procs[i].Running += took
	}
	b.trace.SpanCount++
	if len(b.trace.Spans) < b.MaxSpans {
		b.trace.Spans = append(b.trace.Spans, Span{Goroutine: g.ID, Proc: g.proc, Start: g.since, End: b.now, Origin: g.origin, Stop: why, Runtime: g.Runtime})
	}
}

// IsMain reports that it is the main goroutine, the first that the runtime makes.
func (g Goroutine) IsMain() bool { return g.ID == 1 }

// Tally sums up goroutines that are not distinguished.
type Tally struct {
	Goroutines int64         `json:"goroutines"` // that ran
	Running    time.Duration `json:"running_ns"`
}

// Add counts a goroutine, if it ran.
func (t *Tally) Add(g Goroutine) {
	if g.Spans > 0 {
		t.Goroutines++
		t.Running += g.Running
	}
}

// Longest parts a list: kept are the n that ran longest, the main goroutine always
// among them, in the order of their appearance, and rest are the others. Of two that
// ran equally long the one that appeared first is kept.
func Longest(list []Goroutine, n int) (kept, rest []Goroutine) {
	if len(list) <= n {
		return list, nil
	}
	ranked := sorting.Sorted(list, func(a, b Goroutine) int {
		switch {
		case a.IsMain() && !b.IsMain():
			return -1
		case b.IsMain() && !a.IsMain():
			return 1
		}
		return cmp.Or(cmp.Compare(b.Running, a.Running), cmp.Compare(a.order, b.order))
	})
	kept, rest = ranked[:n:n], ranked[n:]
	sorting.Stable(kept, byAppearance)
	return kept, rest
}

func byAppearance(a, b Goroutine) int { return cmp.Compare(a.order, b.order) }

// keep puts what is known of a goroutine into the trace, if it may be one of those
// that ran longest. As many again as are kept may wait there for the next choice.
func (b *builder) keep(g *goroutine) {
	if g.Runtime {
		b.trace.Runtime.Add(g.Goroutine)
	}
	if g.Running <= b.least && !g.IsMain() {
		b.drop(g.Goroutine)
		return
	}
	b.trace.Goroutines = append(b.trace.Goroutines, g.Goroutine)
	if len(b.trace.Goroutines) >= 2*b.MaxGoroutines {
		b.choose()
	}
}

func (b *builder) choose() {
	kept, rest := Longest(b.trace.Goroutines, b.MaxGoroutines)
	b.trace.Goroutines = kept
	for _, g := range rest {
		b.least = max(b.least, g.Running)
		b.drop(g)
	}
}

func (b *builder) drop(g Goroutine) {
	if !g.Runtime {
		b.trace.Dropped.Add(g)
	}
}
