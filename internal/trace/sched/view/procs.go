package view

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/trace/sched"
)

// Procs is what waited on each P and what it did.
type Procs struct {
	Ticks bool // TickShare is known (Go 1.25, or scheddetail)
	Rows  []Proc
	Rest  string // of the Ps without a row; empty if all have one
}

// Proc is one P. Share and TickShare are of all Ps.
type Proc struct {
	Name             string
	Mean, Max, Share string
	At               float64 // of the longest mean
	Ticks, TickShare string
	TickAt           float64 // of the largest share
}

// procs has a row for each of the first most Ps, or, where there are more, for
// those with the longest queues.
func procs(st *sched.Stats, most int) *Procs {
	list := slices.DeleteFunc(slices.Clone(st.PerProc), func(p sched.ProcLoad) bool { return p.Queue == nil })
	if len(list) == 0 {
		return nil
	}
	out := &Procs{}
	var longest, largest float64
	for _, p := range list {
		longest = max(longest, p.Queue.Mean)
		if p.TickShare != nil {
			largest = max(largest, *p.TickShare)
			out.Ticks = true
		}
	}
	if most > 0 && len(list) > most {
		slices.SortStableFunc(list, func(a, b sched.ProcLoad) int { return cmp.Compare(b.Queue.Mean, a.Queue.Mean) })
		var rest sched.Level
		for _, p := range list[most:] {
			rest.Mean += p.Queue.Mean
			rest.Max = max(rest.Max, p.Queue.Max)
		}
		out.Rest = fmt.Sprintf("%d more Ps with shorter queues: %s waiting on them in all on average, at most %s on one", len(list)-most, number.Amount(rest.Mean), number.Amount(rest.Max))
		list = list[:most]
		slices.SortFunc(list, func(a, b sched.ProcLoad) int { return a.Proc - b.Proc })
	}
	for _, p := range list {
		row := Proc{Name: procName(p.Proc, p.Proc), Mean: number.Amount(p.Queue.Mean), Max: number.Amount(p.Queue.Max)}
		if longest > 0 {
			row.At = p.Queue.Mean / longest
		}
		if p.QueueShare != nil {
			row.Share = number.Share(*p.QueueShare)
		}
		if p.Ticks != nil {
			row.Ticks = strconv.FormatInt(*p.Ticks, 10)
		}
		if p.TickShare != nil && largest > 0 {
			row.TickShare, row.TickAt = number.Share(*p.TickShare), *p.TickShare/largest
		}
		out.Rows = append(out.Rows, row)
	}
	if untracked := st.Untracked; untracked > 0 {
		if out.Rest != "" {
			out.Rest += "; "
		}
		out.Rest += fmt.Sprintf("%d further Ps are counted in the sums alone", untracked)
	}
	return out
}

// heatRows is how many rows a heat map has at most; more Ps share rows.
const heatRows = 32

// Heat is the longest queue of each P in each stretch of time.
type Heat struct {
	Slots []slot
	Rows  []HeatRow
	Max   string
	Note  string
}

// HeatRow is a P, or some in a row.
type HeatRow struct {
	Name  string
	Cells []HeatCell // of the slots that hold a queue, in order
}

// HeatCell is a queue that is not empty. Slots in a row of the same length are
// one cell.
type HeatCell struct {
	From, Until float64
	Heat        float64 // 0 to 1, logarithmic
	Text        string
}

func (v *View) heat(t *timeline) {
	procs, longest := 0, 0
	for _, p := range t.points {
		procs = max(procs, len(p.QueueMax))
		for _, q := range p.QueueMax {
			longest = max(longest, q)
		}
	}
	if procs == 0 || longest == 0 {
		return
	}
	each := (procs + heatRows - 1) / heatRows
	h := &Heat{Slots: t.slots, Max: strconv.Itoa(longest), Note: "the longest queue in each stretch of time; the stronger the colour the longer, on a logarithmic scale up to " + strconv.Itoa(longest)}
	if each > 1 {
		h.Note += fmt.Sprintf("; a row is %d Ps, and shows the longest queue of them", each)
	}
	for from := 0; from < procs; from += each {
		to := min(from+each, procs)
		row := HeatRow{Name: procName(from, to-1)}
		for i, p := range t.points {
			q := 0
			for j := from; j < min(to, len(p.QueueMax)); j++ {
				q = max(q, p.QueueMax[j])
			}
			if q <= 0 {
				continue
			}
			row.Cells = append(row.Cells, HeatCell{t.slots[i].From, t.slots[i].Until,
				math.Log1p(float64(q)) / math.Log1p(float64(longest)),
				fmt.Sprintf("%s at %s: %s", row.Name, t.slots[i].When, number.AmountOf(float64(q), "goroutine"))})
		}
		h.Rows = append(h.Rows, row)
	}
	v.Heat = h
}
