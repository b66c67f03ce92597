package view

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/trace/sched"
)

// Options is what a Summary does not know.
type Options struct {
	Name   string // of the command or the file
	Points int    // at most so many points a series; 0: as many as there are
	Procs  int    // at most so many rows of Ps; 0: all
}

// View is a trace, ready to be laid out.
type View struct {
	Name         string
	Headline     Headline
	Context      string // what it holds for: Ps, samples, time
	Time         []Tick // of the horizontal axis of all charts
	Charts       []Chart
	Heat         *Heat     // nil without queues
	Procs        *Procs    // nil without queues
	Facts        []Fact    // the figures that no chart shows
	Waits        []Wait    // nil without scheddetail
	RuntimeWaits string    // what only the runtime\'s own goroutines wait for; may be empty
	Readings     []Reading // all but the headline
	Unread       []string
}

// State says what a headline asks for.
type State string

// The states of a headline.
const (
	Inform    State = "act"
	Attention State = "attention"
	Unknown   State = "unknown"
)

// Headline is the reading to begin with.
type Headline struct {
	State    State
	Label    string
	Sentence string
	Advice   string // may be empty
}

// Reading is one of the others.
type Reading struct {
	Warning bool
	Text    string
	Advice  string // may be empty
}

// Fact is a figure with its name.
type Fact struct{ Name, Value string }

// Wait is what goroutines wait for.
type Wait struct {
	Name      string
	Mean, Max string
	At        float64 // of the largest mean
}

// New makes a view of a summary and its readings.
func New(s *sched.Summary, readings []sched.Reading, o Options) *View {
	v := &View{Name: phrase.Clean(o.Name)}
	head := v.headline(s, readings)
	for i, r := range readings {
		if i != head {
			v.Readings = append(v.Readings, Reading{r.Severity == sched.Warning, sentence(phrase.Clean(r.Text)), sentence(r.Advice)})
		}
	}
	for _, p := range s.Skipped.First {
		v.Unread = append(v.Unread, phrase.Clean(p.String()))
	}
	if more := s.Skipped.Count - int64(len(s.Skipped.First)); more > 0 && len(v.Unread) > 0 {
		v.Unread = append(v.Unread, fmt.Sprintf("and %d more", more))
	}
	m := s.Main
	if m == nil || s.Interleaved() {
		return v
	}
	v.Context = context(s)
	t := newTimeline(s, o.Points)
	v.Time = t.ticks()
	v.charts(t, &m.Stats)
	v.heat(t)
	v.Procs = procs(&m.Stats, o.Procs)
	v.Facts = facts(&m.Stats)
	v.Waits, v.RuntimeWaits = waits(&m.Stats)
	return v
}

// headlines are the readings that may lead, in this order, and how they are
// labelled. What asks for attention leads as a warning alone.
var headlines = []struct {
	id    string
	label string
	state State
}{
	{"interleaved", "Cannot tell", Unknown},
	{"no-samples", "Nothing to read", Unknown},
	{"few-samples", "Cannot tell", Unknown},
	{"processes", "One of several", Attention},
	{"cpu-bound", "CPU-bound", Attention},
	{"lock-waits", "Waits for locks", Attention},
	{"blocked-threads", "Threads at large", Attention},
	{"late-samples", "Held up", Attention},
	{"queue-skew", "Uneven", Attention},
	{"busy", "Busy", Inform},
	{"blocked-threads", "Threads off the Ps", Inform},
	{"all-idle", "Hardly a P busy", Inform},
	{"idle-procs", "Not limited by GOMAXPROCS", Inform},
	{"idle-and-queued", "In bursts", Inform},
}

// headline returns the index of the reading that leads; -1 where none does.
func (v *View) headline(s *sched.Summary, readings []sched.Reading) int {
	for _, h := range headlines {
		for i, r := range readings {
			if r.ID == h.id && (h.state != Attention || r.Severity == sched.Warning) {
				v.Headline = Headline{h.state, h.label, sentence(phrase.Clean(r.Text)), sentence(r.Advice)}
				return i
			}
		}
	}
	v.Headline = Headline{State: Inform, Label: "Mixed", Sentence: "No reading applies to the whole of it."}
	if m := s.Main; m != nil && m.Procs != nil && m.IdleProcs != nil {
		v.Headline.Sentence = fmt.Sprintf("%s of %s Ps busy on average, all of them in %s of %d samples and none in %s%s.",
			number.Amount(max(0, m.Procs.Mean-m.IdleProcs.Mean)), number.Amount(m.Procs.Mean), number.Share(float64(m.AllBusy)/float64(m.IdleProcs.N)), m.IdleProcs.N,
			number.Share(float64(m.AllIdle)/float64(m.IdleProcs.N)), queued(&m.Stats))
	}
	return -1
}

func queued(st *sched.Stats) string {
	if st.Queued == nil {
		return ""
	}
	return fmt.Sprintf("; %s waiting on average", number.AmountOf(st.Queued.Mean, "goroutine"))
}

// context is what the figures hold for.
func context(s *sched.Summary) string {
	m, text := s.Main, ""
	if s.SegmentCount > 1 {
		text = fmt.Sprintf("one of %d processes · ", s.SegmentCount)
	}
	if p := m.Procs; p != nil {
		text += "GOMAXPROCS " + span(p) + " · "
	}
	text += phrase.Count(m.Samples, "sample") + " over " + duration(m.ToMillis-m.FromMillis)
	if m.IntervalMedian != nil && m.Samples > 1 {
		text += ", one every " + duration(int64(*m.IntervalMedian+0.5))
	}
	if m.StartupSamples > 0 {
		text += ", and the one at the start, which does not count"
	}
	if n := s.Run.LeftOut; n > 0 {
		text += "; " + phrase.Count(n, "sample") + " of its shutdown left out"
	}
	return text
}
