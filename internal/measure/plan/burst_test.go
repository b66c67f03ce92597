package plan

import (
	"slices"
	"testing"

	"github.com/procfit/procfit/internal/measure/plan/field"
)

// limitField is the field of --limit, as a command has it.
func limitField(t testing.TB, f *Flags) func(text string) error {
	t.Helper()
	fields := f.Fields()
	i := slices.IndexFunc(fields, func(one field.Field) bool { return one.Name == "limit" })
	return fields[i].Value.Set
}

// TestLimitWithBurst: the burst stands anywhere in the list, and counts for all of it.
func TestLimitWithBurst(t *testing.T) {
	for text, want := range map[string]struct {
		limits []float64 // 0: none
		burst  float64
	}{
		"2":                   {[]float64{2}, 0},
		"2,burst=0.5":         {[]float64{2}, 0.5},
		"burst=500m,2":        {[]float64{2}, 0.5},
		"none,1, burst=1 ,2":  {[]float64{0, 1, 2}, 1},
		"500m,burst=250m":     {[]float64{0.5}, 0.25},
		"burst=0.5":           {[]float64{0}, 0.5}, // which Validate refuses
		"1,burst=0.5,burst=0": {nil, 0},
		"1,bursts=1":          {nil, 0},
	} {
		f := NewFlags()
		err := limitField(t, f)(text)
		var got []float64
		for _, q := range f.Quotas {
			if q == nil {
				q = new(float64)
			}
			got = append(got, *q)
		}
		if (err != nil) != (want.limits == nil) || !slices.Equal(got, want.limits) || f.Burst != want.burst {
			t.Errorf("%q: %v with a burst of %v, %v", text, got, f.Burst, err)
		}
	}
	f := NewFlags()
	set := limitField(t, f)
	if set("2,burst=0.5") != nil || set("1") != nil || f.Burst != 0 {
		t.Errorf("given again without one: a burst of %v", f.Burst)
	}
}

func FuzzLimitWithBurst(f *testing.F) {
	for _, s := range []string{"2,burst=0.5", "none", "burst=", "burst=1e309,1", "1,burst=-1", ",burst=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		flags := NewFlags()
		if limitField(t, flags)(text) != nil {
			if flags.Burst != 0 {
				t.Errorf("%q is refused and sets a burst of %v", text, flags.Burst)
			}
			return
		}
		if b := flags.Burst; !(b >= 0) || b > 1e300 {
			t.Errorf("%q is a burst of %v", text, b)
		}
	})
}
