package agree

import "testing"

// TestRelate keeps what counts as agreement.
func TestRelate(t *testing.T) {
	for _, c := range []struct {
		live, sweep answer
		relation
	}{
		{good, good, agree}, {good, same, agree}, {bad, bad, agree}, {mixed, bad, agree}, {bad, mixed, agree},
		{good, bad, disagree}, {bad, same, disagree}, {mixed, good, disagree}, {same, mixed, disagree},
		{open, good, oneOpen}, {bad, open, oneOpen}, {open, open, oneOpen},
	} {
		if r := relate(c.live, c.sweep); r != c.relation {
			t.Errorf("live says %s and sweep %s: %s, want %s", c.live, c.sweep, r, c.relation)
		}
	}
}
