package plan

import (
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/slo"
)

// serverWith is a server's Spec as it comes, changed.
func serverWith(change func(*Spec)) Spec {
	s := server()
	change(&s)
	return s
}

// The open loop is as long as its p99 needs, unless the user says how long.
func TestOpenFor(t *testing.T) {
	given := func(d time.Duration) func(*Spec) {
		return func(s *Spec) { s.Load.Duration, s.Load.Stretch = d, false }
	}
	asDefault := func(*Spec) {}
	for name, tc := range map[string]struct {
		spec  func(*Spec)
		rate  float64
		quota bool
		open  time.Duration
		code  journal.UnjudgedCode
		have  int64
		would time.Duration
	}{
		"fast":                {asDefault, 5000, false, 1500 * time.Millisecond, "", 0, 0},
		"slower":              {asDefault, 1000, false, 5 * time.Second, "", 0, 0},
		"an odd rate":         {asDefault, 700, false, 7143 * time.Millisecond, "", 0, 0},
		"too slow":            {asDefault, 100, false, 10700 * time.Millisecond, journal.UnjudgedFewRequests, 1070, 100 * time.Second},
		"attached":            {func(s *Spec) { s.Target.Attach = &Attached{} }, 100, false, 10700 * time.Millisecond, journal.UnjudgedFewRequests, 1070, 50 * time.Second},
		"a quota":             {asDefault, 5000, true, 10 * time.Second, "", 0, 0},
		"a limit around us":   {func(s *Spec) { s.Limited = true }, 5000, false, 10 * time.Second, "", 0, 0},
		"a rate not known":    {asDefault, 0, true, 10 * time.Second, "", 0, 0},
		"given":               {given(6 * time.Second), 500, false, 3 * time.Second, journal.UnjudgedFewRequests, 1500, 20 * time.Second},
		"given, enough":       {given(20 * time.Second), 500, false, 10 * time.Second, "", 0, 0},
		"given, with a quota": {given(6 * time.Second), 5000, true, 3 * time.Second, journal.UnjudgedFewPeriods, 30, 20 * time.Second},
		"given, few of both":  {given(6 * time.Second), 100, true, 3 * time.Second, journal.UnjudgedFewRequests, 300, 100 * time.Second},
		"an external one": {func(s *Spec) { s.Load.Command = "wrk2 -R{rate} -d{duration} {url}" }, 500, false,
			1500 * time.Millisecond, journal.UnjudgedFewRequests, 1500, 10 * time.Second},
		"an external closed loop": {func(s *Spec) { s.Load.Command = "wrk {url}" }, 500, false, 1500 * time.Millisecond, "", 0, 0},
		"hardly any requests":     {asDefault, 1e-300, false, 10700 * time.Millisecond, journal.UnjudgedFewRequests, 1, 0},
	} {
		s := serverWith(tc.spec)
		external := s.Load.Command != ""
		if got := s.OpenFor(tc.rate, tc.quota, 0); got != tc.open && !external {
			t.Errorf("%s: %s, want %s", name, got, tc.open)
		}
		short := s.Shortfall(tc.rate, tc.quota)
		switch {
		case (short != nil) != (tc.code != ""):
			t.Errorf("%s: %+v, want %q", name, short, tc.code)
		case short != nil && (short.Code != tc.code || short.Have != tc.have || tc.would > 0 && short.Duration != tc.would || short.Duration <= 0):
			t.Errorf("%s: %+v, want %d %s and %s", name, short, tc.have, tc.code, tc.would)
		case short != nil && tc.would > 0:
			// What is advised would do.
			s.Load.Duration, s.Load.Stretch = short.Duration, false
			if still := s.Shortfall(tc.rate, tc.quota); still != nil {
				t.Errorf("%s: with %s it still lacks %+v", name, short.Duration, still)
			}
		}
	}
}

// Both loops are long enough for five collections that show in their figures.
func TestCollections(t *testing.T) {
	pilot := func(change func(*journal.Trial)) journal.Trial {
		p := journal.Trial{Role: journal.RolePilot, Valid: true, Usage: journal.Usage{MeasuredSeconds: 1.5,
			GC: &journal.GC{Cycles: 3, SpanSeconds: 1.5, CPUSeconds: new(0.3), BusySeconds: new(3.0)}}}
		change(&p)
		return p
	}
	asIs := func(*journal.Trial) {}
	for name, tc := range map[string]struct {
		spec         func(*Spec)
		pilots       []journal.Trial
		closed, open time.Duration
	}{
		"two a second":      {func(*Spec) {}, []journal.Trial{pilot(asIs), pilot(asIs)}, 2500 * time.Millisecond, 5 * time.Second},
		"two replicas":      {func(*Spec) {}, []journal.Trial{pilot(func(p *journal.Trial) { p.GC.Add(*p.GC) })}, 2500 * time.Millisecond, 5 * time.Second},
		"at a fourth":       {func(s *Spec) { s.Load.RateShare = 0.25 }, []journal.Trial{pilot(asIs)}, 2500 * time.Millisecond, 10 * time.Second},
		"a rare one":        {func(*Spec) {}, []journal.Trial{pilot(func(p *journal.Trial) { p.GC.Cycles = 1; p.GC.SpanSeconds = 3 })}, 10700 * time.Millisecond, 10700 * time.Millisecond},
		"short ones":        {func(*Spec) {}, []journal.Trial{pilot(func(p *journal.Trial) { p.GC.CPUSeconds = new(0.08) })}, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"none":              {func(*Spec) {}, []journal.Trial{pilot(func(p *journal.Trial) { p.GC.Cycles = 0 })}, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"not counted":       {func(*Spec) {}, []journal.Trial{pilot(func(p *journal.Trial) { p.GC = nil })}, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"no CPU time":       {func(*Spec) {}, []journal.Trial{pilot(func(p *journal.Trial) { p.GC.CPUSeconds = nil })}, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"an invalid one":    {func(*Spec) {}, []journal.Trial{pilot(func(p *journal.Trial) { p.Valid = false })}, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"another group's":   {func(*Spec) {}, []journal.Trial{pilot(func(p *journal.Trial) { p.Setting.Replicas = 2 })}, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"a given duration":  {func(s *Spec) { s.Load.Stretch = false }, []journal.Trial{pilot(asIs)}, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"not a pilot's":     {func(*Spec) {}, []journal.Trial{pilot(func(p *journal.Trial) { p.Role = journal.RoleMeasure })}, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"nothing was busy":  {func(*Spec) {}, []journal.Trial{pilot(func(p *journal.Trial) { p.GC.BusySeconds = new(0.0) })}, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"nothing was spent": {func(*Spec) {}, []journal.Trial{pilot(func(p *journal.Trial) { p.MeasuredSeconds = 0; p.GC.CPUSeconds = new(0.0) })}, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"no pilots":         {func(*Spec) {}, nil, 1500 * time.Millisecond, 1500 * time.Millisecond},
	} {
		s := serverWith(tc.spec)
		each := collections(Task{Role: journal.RoleMeasure}, tc.pilots)
		if closed, open := s.ClosedFor(each), s.OpenFor(5000, false, each); closed != tc.closed || open != tc.open {
			t.Errorf("%s: %s and %s, want %s and %s", name, closed, open, tc.closed, tc.open)
		}
		if pilot := collections(Task{Role: journal.RolePilot}, tc.pilots); pilot != 0 {
			t.Errorf("%s: a pilot follows the pilots: %g", name, pilot)
		}
	}
}

func TestEach(t *testing.T) {
	half := 0.5
	for name, tc := range map[string]struct {
		spec func(*Spec)
		want time.Duration
		most time.Duration // if the pilots find a low rate
	}{
		"as it comes":         {func(*Spec) {}, 4300 * time.Millisecond, 13500 * time.Millisecond},
		"a rate":              {func(s *Spec) { s.Load.Rate = 1000 }, 7800 * time.Millisecond, 7800 * time.Millisecond},
		"one quota":           {func(s *Spec) { s.Quotas = []*float64{&half} }, 12800 * time.Millisecond, 13500 * time.Millisecond},
		"with and without":    {func(s *Spec) { s.Quotas = []*float64{nil, &half} }, 8550 * time.Millisecond, 13500 * time.Millisecond},
		"a duration is given": {func(s *Spec) { s.Quotas, s.Load.Stretch = []*float64{&half}, false }, 4300 * time.Millisecond, 4300 * time.Millisecond},
		"external":            {func(s *Spec) { s.Load.Command = "wrk {url}" }, 3700 * time.Millisecond, 3700 * time.Millisecond},
	} {
		if got, most := serverWith(tc.spec).Each(), serverWith(tc.spec).EachAtMost(); got != tc.want || most != tc.most {
			t.Errorf("%s: %s and at most %s, want %s and %s", name, got, most, tc.want, tc.most)
		}
	}
}

// A rate of a search is tried for many periods of a limit, whoever sets that, unless the user
// says how long.
func TestProbeFor(t *testing.T) {
	search := func(change func(*Spec)) Spec {
		return serverWith(func(s *Spec) {
			s.Load.SLO = &slo.Objective{Quantile: 0.99, Seconds: 0.05}
			change(s)
		})
	}
	for name, tc := range map[string]struct {
		spec  Spec
		quota bool
		want  time.Duration
	}{
		"no limit":          {search(func(*Spec) {}), false, 1500 * time.Millisecond},
		"a quota":           {search(func(*Spec) {}), true, 3 * time.Second},
		"a limit around us": {search(func(s *Spec) { s.Limited = true }), false, 3 * time.Second},
		"given":             {search(func(s *Spec) { s.Load.Duration, s.Load.Stretch = 2*time.Second, false }), true, time.Second},
	} {
		if got := tc.spec.ProbeFor(5000, tc.quota); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestApartOn(t *testing.T) {
	for name, tc := range map[string]struct {
		spec  func(*Spec)
		cpus  float64
		apart bool
		then  journal.Arrangement // as long as nothing was chosen
	}{
		"eight CPUs":         {func(*Spec) {}, 8, true, journal.ArrangementShared},
		"four":               {func(*Spec) {}, 4, true, journal.ArrangementShared},
		"a little less":      {func(*Spec) {}, 3.9, false, journal.ArrangementShared},
		"opted out":          {func(s *Spec) { s.Load.Shared = true }, 8, false, journal.ArrangementShared},
		"a generator here":   {func(s *Spec) { s.Load.Command = "wrk {url}" }, 8, true, journal.ArrangementShared},
		"one elsewhere":      {func(s *Spec) { s.Load.Command = "ssh box wrk {url}" }, 8, false, journal.ArrangementElsewhere},
		"its own CPUs given": {func(s *Spec) { s.Load.CPUs = []int{7} }, 8, false, journal.ArrangementShared},
		"both given":         {func(s *Spec) { s.Load.CPUs, s.Target.CPUs = []int{7}, []int{0, 1} }, 8, false, journal.ArrangementApart},
		"batch":              {func(s *Spec) { s.Target.URL = "" }, 8, false, ""},
		"chosen":             {func(s *Spec) { s.Split = &Split{Target: []int{0}, Load: []int{1}} }, 8, false, journal.ArrangementApart},
	} {
		s := serverWith(tc.spec)
		if got := s.ApartOn(tc.cpus); got != tc.apart {
			t.Errorf("%s: apart %v, want %v", name, got, tc.apart)
		}
		got := s.Arrangement()
		if (got == nil) != (tc.then == "") || got != nil && *got != tc.then {
			t.Errorf("%s: %v, want %q", name, got, tc.then)
		}
	}
}
