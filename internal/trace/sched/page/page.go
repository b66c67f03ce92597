// Package page makes documents of a sched.Summary. Text from outside is printable here.
package page

import (
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/trace/sched"
)

// What a terminal can hold.
const (
	briefProcs  = 16
	briefUnread = 5
)

// Brief is what a terminal gets of a trace, whose name is that of its command or file.
func Brief(name string, s *sched.Summary, readings []sched.Reading) *document.Document {
	headline, leads := lead(s, readings)
	var numbers []document.Block
	if m := s.Main; m != nil && !s.Interleaved() {
		headline.Blocks = append(headline.Blocks, document.Text{Text: context(s), Style: document.Muted})
		numbers = slices.Concat(levels(&m.Stats), waiting(&m.Stats), waits(&m.Stats))
		if others := facts(&m.Stats); len(others) > 0 {
			numbers = append(numbers, others)
		}
	}
	d := &document.Document{Title: "Scheduler trace of " + phrase.Clean(name), Blocks: append([]document.Block{headline}, numbers...)}
	var notes document.Notes
	for i, r := range readings {
		if i != leads {
			notes = append(notes, document.Note{Quiet: r.Severity != sched.Warning, Message: sentence(phrase.Clean(r.Text)), Fix: sentence(r.Advice)})
		}
	}
	d.Add(notes)
	unread := phrase.CleanAll(phrase.Each(s.Skipped.First, sched.Problem.String))
	if n := len(unread); n > briefUnread+1 {
		unread = append(unread[:briefUnread], fmt.Sprintf("and %d more; --json lists the first %d", s.Skipped.Count-briefUnread, n))
	}
	if len(unread) > 0 {
		d.Add(heading("Could not be read"), document.List{Items: document.Items(unread)})
	}
	return d
}

func heading(s string) document.Heading { return document.Heading{Level: 3, Text: s} }

// headlines are the readings that may lead, in this order, and how they are
// labelled. What asks for attention leads as a warning alone.
var headlines = []struct {
	id    string
	label string
	tone  document.Tone
}{
	{"interleaved", "Several processes", document.Unknown},
	{"no-samples", "Nothing to read", document.Unknown},
	{"few-samples", "Too few samples", document.Unknown},
	{"cpu-bound", "CPU-bound", document.Attention},
	{"lock-waits", "Waits for locks", document.Attention},
	{"blocked-threads", "Many threads without a P", document.Attention},
	{"late-samples", "Samples late", document.Attention},
	{"queue-skew", "Uneven", document.Attention},
	{"busy", "Busy", document.Act},
	{"blocked-threads", "Threads without a P", document.Act},
	{"all-idle", "Almost no P is busy", document.Act},
	{"idle-procs", "Not limited by GOMAXPROCS", document.Act},
	{"idle-and-queued", "In bursts", document.Act},
}

// lead is the headline and the index of its reading; -1 where none leads.
func lead(s *sched.Summary, readings []sched.Reading) (document.Panel, int) {
	p := document.Panel{Name: "Reading", Tone: document.Act, Label: "Mixed", Level: 2, Sentence: "No reading applies to the whole trace."}
	for _, h := range headlines {
		for i, r := range readings {
			if r.ID == h.id && (h.tone != document.Attention || r.Severity == sched.Warning) {
				p.Tone, p.Label, p.Sentence = h.tone, h.label, sentence(phrase.Clean(r.Text))
				if r.Advice != "" {
					p.Blocks = []document.Block{document.Text{Text: sentence(r.Advice), Style: document.Advice}}
				}
				return p, i
			}
		}
	}
	if m := s.Main; m != nil && m.Procs != nil && m.IdleProcs != nil {
		p.Sentence = fmt.Sprintf("%s of %s Ps busy on average, all of them in %s of %d samples and none in %s%s.",
			number.Amount(max(0, m.Procs.Mean-m.IdleProcs.Mean)), number.Amount(m.Procs.Mean), number.Share(float64(m.AllBusy)/float64(m.IdleProcs.N)), m.IdleProcs.N,
			number.Share(float64(m.AllIdle)/float64(m.IdleProcs.N)), queued(&m.Stats))
	}
	return p, -1
}

func queued(st *sched.Stats) string {
	if st.Queued == nil {
		return ""
	}
	return fmt.Sprintf("; %s waiting on average", number.AmountOf(st.Queued.Mean, "goroutine"))
}

// context is what the numbers hold for.
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
		text += "; the one at the start is not counted"
	}
	if n := s.Run.LeftOut; n > 0 {
		text += "; " + phrase.Count(n, "sample") + " at its shutdown not counted"
	}
	return text
}
