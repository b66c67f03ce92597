package trace

import (
	"slices"
	"testing"
	"time"
)

func TestSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		c        Command
		godebug  []string
		want     string
		interval time.Duration
		detail   bool
	}{
		"none":            {Command{}, nil, "schedtrace=10", 10 * time.Millisecond, false},
		"a long run":      {Command{Duration: time.Minute}, nil, "schedtrace=100", 100 * time.Millisecond, false},
		"a run of 3 s":    {Command{Duration: 3 * time.Second}, nil, "schedtrace=30", 30 * time.Millisecond, false},
		"a short run":     {Command{Duration: 300 * time.Millisecond}, nil, "schedtrace=10", 10 * time.Millisecond, false},
		"others stay":     {Command{}, []string{"a=1,b=2"}, "a=1,b=2,schedtrace=10", 10 * time.Millisecond, false},
		"its own":         {Command{}, []string{"schedtrace=50,a=1"}, "a=1,schedtrace=50", 50 * time.Millisecond, false},
		"the flag":        {Command{Interval: 20 * time.Millisecond}, []string{"schedtrace=50"}, "schedtrace=20", 20 * time.Millisecond, false},
		"detail":          {Command{Detail: true}, nil, "schedtrace=1000,scheddetail=1", time.Second, true},
		"detail of its":   {Command{}, []string{"scheddetail=1"}, "schedtrace=1000,scheddetail=1", time.Second, true},
		"no detail":       {Command{}, []string{"scheddetail=0"}, "schedtrace=10", 10 * time.Millisecond, false},
		"the last counts": {Command{}, []string{"a=1", "b=1"}, "b=1,schedtrace=10", 10 * time.Millisecond, false},
		"nonsense":        {Command{}, []string{"schedtrace=x,,"}, "schedtrace=10", 10 * time.Millisecond, false},
	} {
		tc.c.Env = []string{"HOME=/"}
		for _, v := range tc.godebug {
			tc.c.Env = append(tc.c.Env, "GODEBUG="+v)
		}
		got := tc.c.settings()
		if !slices.Equal(got.env, []string{"HOME=/", "GODEBUG=" + tc.want}) || got.interval != tc.interval || got.detail != tc.detail {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
