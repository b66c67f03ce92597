package page

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict"
)

type warned struct {
	of   verdict.Remark // by which its weight is known
	part int            // that it is about; -1: the run as a whole
	note document.Note
}

func warningsOf(r *verdict.Result, parts int) (list []warned) {
	for i := range r.Warnings {
		w := &r.Warnings[i]
		if _, incomplete := w.Remark.(verdict.Incomplete); incomplete && incompleteText(r) != "" {
			continue // which says it, at the head
		}
		a, of := warn(r, w), warned{of: w.Remark, part: -1}
		of.note = document.Note{Message: a.text, Fix: a.fix}
		if w.Group != nil && *w.Group >= 0 && *w.Group < parts {
			of.part = *w.Group
		}
		list = append(list, of)
	}
	return list
}

func notesOf(list []warned, part int) (notes document.Notes) {
	for _, w := range list {
		if w.part == part {
			notes = append(notes, w.note)
		}
	}
	return notes
}

// heavy are the warnings that may turn an answer into none, the heaviest first. The others
// explain what the answer is of.
var heavy = []verdict.Remark{verdict.NoGo{}, verdict.ProcsUnread{}, verdict.OthersBusy{}, verdict.InvalidPilots{}, verdict.Overloaded{}, verdict.InvalidTrials{}, verdict.DefaultVaries{},
	verdict.UnsetPerformsApart{}, verdict.Steal{}, verdict.Noisy{}, verdict.NoisyP99{}, verdict.SentLate{}, verdict.LoadLimited{},
	verdict.FewBlocks{}, verdict.MetricsWorse{}, verdict.SharedMachine{}}

// heaviest are the warnings that weaken the answer most, each with its fix, as far as a
// terminal has room for them, and how many more the report has.
func heaviest(r *verdict.Result, list []warned, parts int) document.Notes {
	const room = 10 // lines of 80 columns
	rank := func(w warned) int {
		if i := slices.IndexFunc(heavy, func(x verdict.Remark) bool { return x.Code() == w.of.Code() }); i >= 0 {
			return i
		}
		return len(heavy)
	}
	lines := func(text string) int { return (utf8.RuneCountInString(text) + 69) / 70 } // words are not broken
	var notes document.Notes
	used := 0
	for _, w := range sorting.Sorted(list, func(a, b warned) int { return cmp.Compare(rank(a), rank(b)) }) {
		n := w.note
		if w.part >= 0 && parts > 1 {
			n.Subject = groupKey(r, w.part)
		}
		used += lines(n.Subject+n.Message) + lines(n.Fix)
		if len(notes) > 0 && used > room {
			break
		}
		notes = append(notes, n)
	}
	if more := len(list) - len(notes); more > 0 {
		notes = append(notes, document.Note{Quiet: true, Message: phrase.CountOf(more, "more remark is", "more remarks are") + " in report.html"})
	}
	return notes
}

func warn(r *verdict.Result, w *verdict.Warning) wording {
	of := &verdict.Group{}
	if w.Group != nil && *w.Group >= 0 && *w.Group < len(r.Groups) {
		of = &r.Groups[*w.Group]
	}
	return words{of, r}.say(w.Remark)
}
