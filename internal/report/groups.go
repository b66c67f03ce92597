package report

import (
	"strconv"

	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/stat"
)

// acrossGroups is the verdict of a run with several groups, which are never
// compared with each other.
func acrossGroups(groups []Group) Verdict {
	v := Verdict{State: groups[0].Verdict.State, Label: groups[0].Verdict.Label}
	same := true
	for _, g := range groups[1:] {
		same = same && g.Verdict.Sentence == groups[0].Verdict.Sentence
		if g.Verdict.Label != v.Label {
			v.State, v.Label = Attention, "It depends"
		}
	}
	if same {
		all := "In all " + phrase.Count(len(groups), "group")
		if len(groups) == 2 {
			all = "In both groups"
		}
		v.Sentence = all + ": " + groups[0].Verdict.Sentence
		v.Answer = groups[0].Verdict.Answer
		v.Answer.Tiles = nil
	} else {
		v.Sentence = phrase.Count(len(groups), "group") + ", each with its own answer; figures of different groups are not compared."
	}
	if v.Answer.Text == "" {
		v.Answer = Answer{Text: differing(groups), Plain: v.Sentence}
	}
	return v
}

// differing is the answer of groups that have no common sentence: what they agree on, or
// that it depends.
func differing(groups []Group) string {
	for _, g := range groups[1:] {
		if g.Verdict.Answer.Text != groups[0].Verdict.Answer.Text {
			return "It depends"
		}
	}
	return groups[0].Verdict.Answer.Text
}

func summary(r *stat.Result, groups []Group) *Table {
	t := &Table{Columns: []Column{
		{Head: "Group", Short: "group", Left: true},
		{Head: "Verdict", Short: "verdict", Left: true},
		{Head: "Unset runs at", Short: "unset"},
		{Head: "Peak", Short: "peak"},
		{Head: "Throughput at the peak", Short: "throughput"},
	}}
	for i := range groups {
		g := &group{Group: &r.Groups[i], r: r, rows: rowsOf(&r.Groups[i]), throughput: perSecond(throughputUnit(r.Groups[i].ThroughputUnit))}
		unset, peak, best := absent, absent, Cell{Value: absent}
		if n, ok := ps(g.unset()); ok {
			unset = strconv.Itoa(n)
		}
		if a := g.row(g.Peak); a != nil {
			peak = armName(a)
			best = g.throughput.cell(a.Throughput)
		}
		t.Rows = append(t.Rows, Row{Link: groups[i].ID, Cells: []Cell{
			{Value: groups[i].Title}, {Value: groups[i].Verdict.Label, Detail: groups[i].Verdict.Sentence}, {Value: unset}, {Value: peak}, best,
		}})
	}
	return t
}
