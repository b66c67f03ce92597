package exec

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/exp/trace"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Options bound what is kept; 0 stands for the default.
type Options struct {
	MaxSpans      int // 100,000
	MaxGoroutines int // 10,000, those that ran longest
	MaxSteals     int // 10,000
}

func (o Options) withDefaults() Options {
	return Options{cmp.Or(o.MaxSpans, 100_000), cmp.Or(o.MaxGoroutines, 10_000), cmp.Or(o.MaxSteals, 10_000)}
}

// Read reads a trace to its end. The Trace holds what was read also next to an error, which says
// by which byte; the fault is at most a generation before it.
func Read(r io.Reader, o Options) (*Trace, error) {
	in := &counter{r: r}
	b := newBuilder(o.withDefaults())
	err := b.events(in)
	t := b.finish()
	if in.err != nil {
		err = in.err
	}
	if err == nil && t.Events == 0 {
		err = errors.New("it has no events")
	}
	if err != nil {
		err = fmt.Errorf("execution trace: by byte %d: %w", in.n, err)
	}
	return t, err
}

type counter struct {
	r   io.Reader
	n   int64
	err error // of the reader, but for its end
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

// events gives every event to the builder. The reader of x/exp is not meant for
// hostile input, and panics at some.
func (b *builder) events(in io.Reader) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("not a valid trace: %v", firstLine(fmt.Sprint(r)))
		}
	}()
	r, err := trace.NewReader(in)
	if err != nil {
		return clean(err)
	}
	for {
		ev, err := r.ReadEvent()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return clean(err)
		}
		b.event(&ev)
	}
}

// clean drops the reader's dump of its state, and what would not print.
func clean(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || strings.HasPrefix(err.Error(), "failed to read full batch") {
		return fmt.Errorf("it is cut off: %w", io.ErrUnexpectedEOF)
	}
	return errors.New(firstLine(err.Error()))
}

func firstLine(s string) string {
	return phrase.Clip(phrase.Clean(strings.TrimRight(phrase.FirstLine(s), ": ")), 200)
}

// maxName bounds names that the traced program chose.
const maxName = 80

type builder struct {
	Options
	trace Trace
	began bool
	first trace.Time
	now   time.Duration

	live  map[trace.GoID]*goroutine
	procs map[int]*proc
	flows map[[2]int]*Flow
	gomax uint64 // 0: not known yet

	least time.Duration // the longest that one ran that was dropped; -1: none was
}

type proc struct {
	Proc
	queued int // goroutines made ready on it that have not started
	// epoch changes when its queue may have been emptied into the global one.
	epoch  int
	holder *goroutine // holds it in a system call
}

// taken ends the hold that a system call has on the P.
func (p *proc) taken(now time.Duration) {
	if g := p.holder; g != nil {
		p.Syscalls += now - g.since
		g.proc, p.holder = NoProc, nil
	}
}

func newBuilder(o Options) *builder {
	return &builder{
		Options: o,
		trace:   Trace{Procs: []Proc{}, Goroutines: []Goroutine{}, Spans: []Span{}, Steals: []Steal{}, Flows: []Flow{}}, // none, in JSON, is not null
		least:   -1,
		live:    map[trace.GoID]*goroutine{}, procs: map[int]*proc{}, flows: map[[2]int]*Flow{},
	}
}

func (b *builder) proc(id int) *proc {
	p := b.procs[id]
	if p == nil {
		p = &proc{Proc: Proc{ID: id}}
		b.procs[id] = p
	}
	return p
}

func (b *builder) event(ev *trace.Event) {
	if !b.began {
		b.began, b.first = true, ev.Time()
	}
	b.now = max(b.now, ev.Time().Sub(b.first))
	if ev.Kind() == trace.EventSync {
		return
	}
	b.trace.Events++
	if g := b.live[ev.Goroutine()]; g != nil {
		g.meet(ev, b.now)
	}
	switch ev.Kind() {
	case trace.EventStateTransition:
		st := ev.StateTransition()
		switch st.Resource.Kind {
		case trace.ResourceGoroutine:
			b.goroutine(ev, st)
		case trace.ResourceProc:
			if _, to := st.Proc(); st.Resource.Proc() >= firstFakeProc {
				break
			} else if to == trace.ProcIdle || to == trace.ProcNotExist {
				b.proc(int(st.Resource.Proc())).taken(b.now)
			}
		}
	case trace.EventMetric:
		m := ev.Metric()
		if m.Name == "/sched/gomaxprocs:threads" && m.Value.Kind() == trace.ValueUint64 {
			b.resize(m.Value.Uint64())
		}
	case trace.EventLog:
		if g := b.live[ev.Goroutine()]; g != nil && !g.logged {
			l := ev.Log()
			g.logged = true
			g.Name = phrase.Clip(phrase.Clean(strings.TrimSpace(l.Category+" "+l.Message)), maxName)
		}
	}
}

// resize: the runtime puts the queues of the Ps that go into the global one.
func (b *builder) resize(n uint64) {
	if b.gomax != 0 && n != b.gomax {
		b.trace.ProcChanges++
		for _, p := range b.procs {
			p.epoch++
		}
	}
	b.gomax = n
}

func (b *builder) finish() *Trace {
	t := &b.trace
	t.Duration = b.now
	for _, g := range sorting.Sorted(slices.Collect(maps.Values(b.live)), func(x, y *goroutine) int { return cmp.Compare(x.order, y.order) }) {
		g.stop(b, "")
		b.keep(g)
	}
	b.choose()
	sorting.Stable(t.Goroutines, byAppearance)
	for _, p := range b.procs {
		t.Procs = append(t.Procs, p.Proc)
	}
	sorting.Stable(t.Procs, func(x, y Proc) int { return x.ID - y.ID })
	for _, f := range b.flows {
		t.Flows = append(t.Flows, *f)
	}
	sorting.Stable(t.Flows, func(x, y Flow) int { return cmp.Or(x.From-y.From, x.To-y.To) })
	return t
}
