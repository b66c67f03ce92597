package journal

import (
	"math"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/host/cpuset"
)

func TestCarriedQuantiles(t *testing.T) {
	all := []float64{0.99, 0.95, 0.9, 0.75, 0.5}
	for requests, want := range map[int64][]float64{
		0: nil, 99: nil, 100: all[4:], 199: all[4:], 200: all[3:], 500: all[2:], 999: all[2:], 1000: all[1:], 4999: all[1:], LeastRequests: all, math.MaxInt64: all,
	} {
		if got := CarriedQuantiles(requests, nil); !slices.Equal(got, want) {
			t.Errorf("%d requests carry %v, want %v", requests, got, want)
		}
	}
	for periods, want := range map[int64][]float64{0: nil, 1: nil, 2: all[4:], 15: all[2:], 20: all[1:], 99: all[1:], LeastPeriods: all} {
		if got := CarriedQuantiles(LeastRequests, &periods); !slices.Equal(got, want) {
			t.Errorf("%d periods carry %v, want %v", periods, got, want)
		}
	}
}

func TestArranged(t *testing.T) {
	cpus := func(list string) cpuset.Set {
		set, err := cpuset.Parse(list)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	server := func(target, load string) Header {
		return Header{Target: Target{Kind: KindServer, ServerCPUs: cpus(target)}, Load: Load{SameMachine: true, LoadCPUs: cpus(load)}}
	}
	elsewhere, told := server("", ""), server("", "")
	elsewhere.Load.SameMachine = false
	told.Load.Arrangement, told.Target.CPUs = ptr(ArrangementApart), cpus("0-6")
	for name, tc := range map[string]struct {
		h    Header
		want Arrangement
		cpus string
	}{
		"told":            {told, ArrangementApart, "0-6"},
		"batch":           {Header{Target: Target{Kind: KindBatch}}, "", ""},
		"elsewhere":       {elsewhere, ArrangementElsewhere, ""},
		"anywhere":        {server("", ""), ArrangementShared, ""},
		"apart":           {server("0-1", "2,3"), ArrangementApart, "0-1"},
		"one shared":      {server("0-2", "2,3"), ArrangementShared, "0-2"},
		"load only":       {server("", "3"), ArrangementShared, ""},
		"target only":     {server("0", ""), ArrangementShared, "0"},
		"the same in all": {server("0", "0"), ArrangementShared, "0"},
	} {
		if got := tc.h.Arranged(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if got := tc.h.Target.Had().String(); got != tc.cpus {
			t.Errorf("%s: the target on %q, want %q", name, got, tc.cpus)
		}
	}
}
