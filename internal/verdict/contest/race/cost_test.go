package race

import (
	"math"
	"testing"
)

// A rival that failed more often than not is not named, and its p99 counts all the same: what
// a proof against it takes follows from that p99.
func TestOutlookAgainstARivalThatFails(t *testing.T) {
	var trials []Trial
	for block := range 4 {
		for v := 1; v <= 2; v++ {
			trials = append(trials, Trial{Value: v, Block: block, Throughput: 100 + float64((block+v)%2), P99: 3 + 0.1*float64(block%2)})
		}
		trials = append(trials, Trial{Value: 4, Block: block, Throughput: 100, P99: 3, Failed: block > 0})
	}
	s := New(Rules{Values: []int{1, 2, 4}, Latency: true}, trials)
	if len(s.named) != 2 || len(s.rivals) != 3 {
		t.Fatalf("named %v of the rivals %v", s.named, s.rivals)
	}
	if o := s.outlook(1); math.IsInf(o.cost, 1) {
		t.Errorf("1 looks worse than 4, whose p99 is the same: %+v", o)
	}
}
