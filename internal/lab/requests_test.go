package lab

import (
	"reflect"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// The experiment has the values that CRI-O injects, and the request and the shares follow the
// size of the machine.
func TestRequests(t *testing.T) {
	e := must.Get(Find("requests"))(t)
	for cpus, want := range map[float64]struct {
		shares int64
		procs  []int
	}{
		1: {256, []int{1}}, 2: {512, []int{1, 2}}, 4: {1024, []int{1, 2, 4}}, 6: {1536, []int{2, 3, 6}}, 8: {2048, []int{2, 4, 8}}, 64: {16384, []int{16, 32, 64}},
	} {
		stages := e.Stages(Options{CPUs: cpus})
		for i, s := range stages {
			if s.Target.Shares != want.shares || !reflect.DeepEqual(s.Procs, only(want.procs...)) {
				t.Errorf("%g CPUs, %s: %d shares, %+v", cpus, s.ID, s.Target.Shares, s.Procs)
			}
			if b := s.Target.Beside; i > 0 && (b.Shares != int64(i)*want.shares || *b.Quota != 0) || i == 0 && b != nil {
				t.Errorf("%g CPUs, %s: next to %+v", cpus, s.ID, b)
			}
			if !s.NeedsGroups() {
				t.Errorf("%s needs no cgroups", s.ID)
			}
		}
		if len(stages) != 3 {
			t.Errorf("%d stages", len(stages))
		}
		for formula, times := range map[ps]int64{"r": 1, "2r": 2} {
			if n := int((times*want.shares + 1023) / 1024); n != formula.of(cpus) {
				t.Errorf("%g CPUs: %q is %d, CRI-O injects %d", cpus, formula, formula.of(cpus), n)
			}
		}
	}
}
