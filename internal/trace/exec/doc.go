// Package exec reads a Go execution trace (runtime/trace, go test -trace) of
// Go 1.11 to 1.27 into what each P ran: for each goroutine its spans, and which
// goroutines left the P that they were made ready on.
//
// What a trace says for certain: when a goroutine was made, woken, begun, stopped
// and why, and on which P each of that happened. It has no event for a queue nor
// for a steal. Which queue a goroutine stood in follows from how it became ready,
// by the rules of the runtime (proc.go):
//
//   - Made by a go statement, or woken by a goroutine or a timer, on P a: in the
//     queue of a. When it begins on b ≠ a, b or another P took it from there: it
//     was Stolen. This is inferred, by exclusion: a's queue holds 256, and what is
//     beyond goes to the global queue, so where 128 or more stood in a's queue, or
//     GOMAXPROCS changed meanwhile, it is Unclear. (128 and not 256, since a P
//     without work takes up to 128 at once from elsewhere.) Between a and b there
//     may have been a third P, which took it with others and lost it again.
//   - Woken by the network poller or with others by the collector (runtime.GC waits
//     for it), or from a wait that began before the trace: in the queue of P a or, if
//     Ps were idle, in the global one. Begun on b ≠ a it is Unclear.
//   - Preempted, or yielding: in the global queue. (One that hands a sync.Mutex
//     over yields to its own P's queue; it cannot be told apart.) Back from a
//     system call that lost its P, or woken by a thread without a P: in the global
//     queue, or begun on an idle P at once. All these are Global.
//
// A P that runs a goroutine is busy here, though its thread may wait for a CPU.
//
// A trace is read one generation, about a second, at a time; of the spans the first
// ones are kept, of the goroutines that ended those that ran longest, and of the
// others the sums. So memory is bounded, but for the goroutines that live at one
// time; traces of Go 1.21 and before are of a form that has to be read whole. A trace that is cut off loses the generation
// that it ends in, in a short trace all of it.
package exec
