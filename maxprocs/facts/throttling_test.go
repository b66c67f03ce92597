package facts

import (
	"testing"
	"time"
)

func TestParseThrottling(t *testing.T) {
	v1 := "nr_periods 40\nnr_throttled 13\nthrottled_time 1500000000\nnr_bursts 0\nburst_time 0\n"
	v2 := "usage_usec 71\nuser_usec 70\nsystem_usec 1\nnr_periods 40\nnr_throttled 13\nthrottled_usec 1500000\n"
	want := Throttling{Periods: 40, ThrottledPeriods: 13, Throttled: 1500 * time.Millisecond}
	for _, data := range []string{v1, v2} {
		if got, err := ParseThrottling(data); err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", data, got, err, want)
		}
	}
	for _, data := range []string{
		"", "usage_usec 71\n", "nr_periods 1\nnr_throttled x\nthrottled_time 1\n", "nr_periods 1\nnr_throttled -1\nthrottled_time 1\n",
		"nr_periods\nnr_throttled 1\nthrottled_time 1\n", "nr_periods 1\nnr_throttled 1\nthrottled_usec 9223372036854775807\n",
	} {
		if got, err := ParseThrottling(data); err == nil {
			t.Errorf("%q was accepted as %+v", data, got)
		}
	}
}

func FuzzParseThrottling(f *testing.F) {
	f.Add("nr_periods 40\nnr_throttled 13\nthrottled_time 1500000000\n")
	f.Add("nr_periods 40\nnr_throttled 13\nthrottled_usec 1500000\n")
	f.Fuzz(func(t *testing.T, data string) {
		if s, err := ParseThrottling(data); err == nil && (s.Periods < 0 || s.ThrottledPeriods < 0 || s.Throttled < 0) {
			t.Fatalf("%q gives a negative count: %+v", data, s)
		}
	})
}
