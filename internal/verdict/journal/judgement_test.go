package journal

import (
	"math"
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/test/must"
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

func TestArrange(t *testing.T) {
	cpus := func(list string) cpuset.Set {
		set := must.Get(cpuset.Parse(list))(t)
		return set
	}
	for name, tc := range map[string]struct {
		target, load string
		want         Arrangement
	}{
		"anywhere":        {"", "", ArrangementShared},
		"apart":           {"0-1", "2,3", ArrangementApart},
		"one shared":      {"0-2", "2,3", ArrangementShared},
		"load only":       {"", "3", ArrangementShared},
		"target only":     {"0", "", ArrangementShared},
		"the same in all": {"0", "0", ArrangementShared},
	} {
		if got := Arrange(cpus(tc.target), cpus(tc.load)); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestArranged(t *testing.T) {
	for want, onTarget := range map[Arrangement]bool{ArrangementShared: true, ArrangementApart: true, ArrangementElsewhere: false, ArrangementTunnel: false} {
		l := Load{Arrangement: &want}
		if l.Arranged() != want || l.OnTargetHost() != onTarget || l.Tunnelled() != (want == ArrangementTunnel) {
			t.Errorf("%s: %q, on the target's host: %v", want, l.Arranged(), l.OnTargetHost())
		}
	}
	if (Load{}).Arranged() != "" || (Load{}).OnTargetHost() {
		t.Error("no load is somewhere")
	}
}

func TestHad(t *testing.T) {
	set := cpuset.Set{0, 1, 2}
	for _, target := range []Target{{CPUs: set}, {ServerCPUs: set}, {CPUs: set, ServerCPUs: cpuset.Set{7}}} {
		if got := target.Had(); got.String() != "0-2" {
			t.Errorf("%+v ran on %q", target, got)
		}
	}
}
