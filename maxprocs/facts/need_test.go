package facts

import "testing"

// TestNoNeed holds the first sentence of the library's page: with Go 1.25 or later, a
// go line that is as new and a limit above one CPU on the container itself, or none,
// the runtime chooses what the library would.
func TestNoNeed(t *testing.T) {
	for _, version := range []string{"1.25", "1.26", "1.27"} {
		for _, cpus := range []int{1, 2, 3, 4, 7, 8, 16, 64} {
			for hundredths := 101; hundredths <= 6500; hundredths += 7 {
				f := facts(float64(cpus), float64(hundredths)/100)
				if theirs, ours := Decide(f, Go{Version: version}), Decide(f, Fit{}); theirs.Procs != ours.Procs {
					t.Fatalf("Go %s, %d CPUs, a limit of %d hundredths: the runtime chooses %d, the library %d", version, cpus, hundredths, theirs.Procs, ours.Procs)
				}
			}
			if theirs, ours := Decide(facts(float64(cpus)), Go{Version: version}), Decide(facts(float64(cpus)), Fit{}); theirs.Procs != ours.Procs {
				t.Fatalf("Go %s, %d CPUs without a limit: %d and %d", version, cpus, theirs.Procs, ours.Procs)
			}
		}
	}
	// And the rows below it, in which there is one.
	for name, f := range map[string]Facts{"one CPU": facts(8, 1), "below": facts(8, 0.5), "an ancestor's": facts(8, 4, 2)} {
		if theirs, ours := Decide(f, Go{Version: "1.27"}), Decide(f, Fit{}); theirs.Procs == ours.Procs {
			t.Errorf("%s: both choose %d", name, ours.Procs)
		}
	}
	if d := Decide(facts(8, 4), Go{Version: "1.27", Language: "1.24"}); d.Procs != 8 {
		t.Errorf("with an old go line: %d", d.Procs)
	}
}
