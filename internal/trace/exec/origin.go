package exec

import (
	"slices"
	"strings"

	"golang.org/x/exp/trace"
)

// maxCertain is how many may be in a P's queue for its overflow to be
// impossible: the queue holds 256, and a P with none takes up to 128 at once from
// another or from the global queue.
const maxCertain = 128

// batchWaits end for a list of goroutines at once, which the runtime spreads over
// the P's queue and the global one (injectglist in proc.go): the poller's, that of
// an assist (gcWakeAllAssists), of runtime.GC (gcMarkTermination), of a weak pointer
// (gcWakeAllStrongFromWeak), and of the scavenger and others of the runtime's own.
var batchWaits = []string{"network", "GC mark assist wait for work", "wait until GC ends", "GC weak to strong wait", "system goroutine wait"}

// inBatch reports whether a wait may end so. Go 1.21 and before give no reason for
// the waits of the runtime, runtime.GC's among them, nor for a preempted goroutine,
// which is made ready by itself: the stack tells these apart.
func inBatch(st trace.StateTransition, from trace.GoState) bool {
	switch {
	case from == trace.GoUndetermined:
		return true // it has waited since before the trace
	case st.Reason == "":
		return strings.HasPrefix(innermost(st.Stack), "runtime.")
	}
	return slices.Contains(batchWaits, st.Reason)
}

// ready notes which queue the goroutine is in, and what a start elsewhere is.
func (b *builder) ready(g *goroutine, from trace.GoState, at int) {
	b.leave(g)
	g.readyProc, g.readyAt, g.readyHow = at, b.now, Global
	switch {
	case from == trace.GoUndetermined:
		g.readyProc, g.readyHow = NoProc, Unknown
	case at == NoProc || from == trace.GoRunning || from == trace.GoSyscall:
		// The global queue.
	case from == trace.GoWaiting && g.batch:
		g.readyHow = Unclear
	default:
		g.readyHow = Own
	}
	if g.queued() {
		p := b.proc(at)
		p.queued++
		if p.queued >= maxCertain {
			p.epoch++
		}
		g.epoch = p.epoch
	}
}

// queued reports that it may be in the queue of a P.
func (g *goroutine) queued() bool {
	return g.readyProc != NoProc && (g.readyHow == Own || g.readyHow == Unclear)
}

// leave takes the goroutine out of the queue that it was thought to be in.
func (b *builder) leave(g *goroutine) {
	if g.queued() {
		b.proc(g.readyProc).queued--
	}
	g.readyProc, g.readyHow = NoProc, Unknown
}

func (b *builder) start(g *goroutine, from trace.GoState, at int) {
	if from == trace.GoUndetermined { // at is where this was written, not where it runs
		b.run(g, NoProc, Unknown)
		return
	}
	origin, readyProc, readyAt := g.readyHow, g.readyProc, g.readyAt
	switch {
	case from == trace.GoSyscall || from == trace.GoWaiting:
		origin = Global
	case at == NoProc:
		origin = Unknown
	case origin == Own && readyProc != at:
		origin = Stolen
		if b.proc(readyProc).epoch != g.epoch {
			origin = Unclear
		}
	case origin == Unclear && readyProc == at:
		origin = Own
	}
	b.leave(g)
	b.run(g, at, origin)
	b.trace.Starts.add(origin)
	if at != NoProc {
		b.proc(at).Starts.add(origin)
	}
	if g.Spans == 0 && at != NoProc { // else it ran already
		g.ReadyProc, g.FirstProc, g.FirstStart, g.FirstOrigin = readyProc, at, b.now, origin
		if origin != Unknown {
			g.FirstWait = b.now - readyAt
		}
	}
	if origin == Stolen || origin == Unclear {
		b.steal(g, Steal{Goroutine: g.ID, From: readyProc, To: at, Ready: readyAt, Start: b.now, Unclear: origin == Unclear})
	}
}

func (b *builder) steal(g *goroutine, s Steal) {
	key := [2]int{s.From, s.To}
	f := b.flows[key]
	if f == nil {
		f = &Flow{From: s.From, To: s.To}
		b.flows[key] = f
	}
	if s.Unclear {
		f.Unclear++
	} else {
		f.Stolen++
		g.Steals++
		b.proc(s.From).Lost++
	}
	b.trace.StealCount++
	if len(b.trace.Steals) < b.MaxSteals {
		b.trace.Steals = append(b.trace.Steals, s)
	}
}
