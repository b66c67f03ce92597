package live

import (
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/paired"
)

// header is of an experiment of ten minutes with slices of 5 s.
func header(values ...int) Header {
	h := Header{journal.Header{Live: &journal.Live{Unit: "request", Start: 2, SliceSeconds: 5, BurnInSeconds: 2, BaselineSeconds: 30, Budget: 1000}}}
	h.Load.DurationSeconds = 600
	h.Plan = journal.Plan{Seed: 7, Settings: Settings(2, values, false)}
	return h
}

func TestCheck(t *testing.T) {
	h := header(1, 4)
	if err := h.Check(); err != nil {
		t.Error(err)
	}
	h.Load.DurationSeconds = 60
	if err := h.Check(); err == nil || !strings.Contains(err.Error(), "after the baseline of 30 s that is 1 block of 21 s") || !strings.Contains(err.Error(), "--for 4m") {
		t.Error(err)
	}
}

// TestBlock: four values at a time, those nearest to the start value first.
func TestBlock(t *testing.T) {
	h := header(1, 3, 4, 6, 8)
	look := paired.Judge(h.Rules(), nil)
	values := func() (list []int) {
		for _, i := range h.compared(look) {
			list = append(list, *h.Plan.Settings[i].Procs)
		}
		return list
	}
	if got := values(); !slices.Equal(got, []int{2, 3, 1, 4}) {
		t.Error(got)
	}
	look.Values[0].Out, look.Values[1].Outcome = true, paired.Same
	if got := values(); !slices.Equal(got, []int{2, 4, 6, 8}) {
		t.Error(got)
	}
	for i := range look.Values {
		look.Values[i].Outcome = paired.Better
	}
	if got := values(); got != nil {
		t.Error(got)
	}
}
