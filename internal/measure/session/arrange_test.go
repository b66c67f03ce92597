package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// arranger is a runner that sets load and target apart, or cannot.
type arranger struct {
	runner
	split    *plan.Split
	err      error
	asked    int
	settings int // of the plan that it was asked with
}

func (a *arranger) Arrange(_ context.Context, p journal.Plan, _ plan.Observer) (*plan.Split, error) {
	a.asked++
	a.settings = len(p.Settings)
	return a.split, a.err
}

// eight is a machine of 8 CPUs.
var eight = journal.Host{CPUs: 8, AffinityCPUs: 8, EffectiveCPUs: 8}

func sevenAndOne() *plan.Split {
	return &plan.Split{Target: []int{0, 1, 2, 3, 4, 5, 6}, Load: []int{7}, Sizing: &journal.Sizing{RequestsPerSecond: 1000, CPUSecondsPerRequest: 1e-5}}
}

func contentsOf(t *testing.T, dir string) *journal.Contents {
	t.Helper()
	return must.Get(journal.ReadDirectory(dir))(t)
}

// The CPUs are chosen once, before the journal is started, which keeps them; a run that
// goes on has the same, without another look.
func TestArrangeOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	sp := sample()
	sp.Procs = plan.Procs{Auto: true}
	a := &arranger{split: sevenAndOne()}
	a.stop = 3
	s := session.New(sp, options(dir, eight))
	before := s.Plan
	if _, err := s.Run(t.Context(), a, session.Events{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	h := contentsOf(t, dir).Header
	if h.Load.Arranged() != journal.ArrangementApart || h.Target.CPUs.String() != "0-6" || h.Load.CPUs.String() != "7" || h.Load.Sizing == nil || h.Target.ServerCPUs != nil || h.Load.LoadCPUs != nil {
		t.Fatalf("the journal has %+v and %+v", h.Target, h.Load)
	}
	below := func(settings []journal.Setting) bool {
		return slices.ContainsFunc(settings, func(a journal.Setting) bool { return a.Procs != nil && *a.Procs == 6 })
	}
	if below(before.Settings) || !below(h.Plan.Settings) {
		t.Errorf("on 8 CPUs the settings are %v, on 7 of them %v", before.Settings, h.Plan.Settings)
	}

	again := session.New(sp, options(dir, eight))
	if again.Spec.Split == nil || cpuset.Format(again.Spec.TargetCPUs()) != "0-6" || cpuset.Format(again.Spec.LoadCPUs()) != "7" {
		t.Fatalf("gone on with %+v", again.Spec.Split)
	}
	a.stop = 0
	must.Get(again.Run(t.Context(), a, session.Events{}))(t)
	if a.asked != 1 {
		t.Errorf("asked %d times for CPUs, want once", a.asked)
	}
	// With the CPUs shared it would be another run.
	sp.Load.Shared = true
	if _, err := session.New(sp, options(dir, eight)).Run(t.Context(), a, session.Events{}); !refused(err, "differs in") {
		t.Errorf("%v, want a refusal", err)
	}
}

// Where CPUs cannot be set apart the run continues as before, and says so in its journal,
// which holds for who continues with it.
func TestArrangeImpossible(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	a := &arranger{}
	a.stop = 2
	if _, err := session.New(sample(), options(dir, eight)).Run(t.Context(), a, session.Events{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if h := contentsOf(t, dir).Header; h.Load.Arranged() != journal.ArrangementShared || h.Load.Arrangement == nil || h.Load.CPUs != nil {
		t.Errorf("the journal has %+v", h.Load)
	}
	a.stop, a.split = 0, sevenAndOne()
	if _, err := session.New(sample(), options(dir, eight)).Run(t.Context(), a, session.Events{}); err != nil || a.asked != 1 {
		t.Errorf("%v; asked %d times", err, a.asked)
	}
}

// A run that ends while the CPUs are chosen leaves a folder that can be started again.
func TestArrangeInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	a := &arranger{err: context.Canceled}
	if begun, err := session.New(sample(), options(dir, eight)).Run(t.Context(), a, session.Events{}); begun || !errors.Is(err, context.Canceled) {
		t.Fatalf("begun %v, %v", begun, err)
	}
	a.err, a.split = nil, sevenAndOne()
	if _, err := session.New(sample(), options(dir, eight)).Run(t.Context(), a, session.Events{}); err != nil || contentsOf(t, dir).Header.Target.CPUs.String() != "0-6" {
		t.Errorf("%v", err)
	}
}

// A folder that may not be used is reported before anything is measured.
func TestArrangeRefused(t *testing.T) {
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600))
	a := &arranger{split: sevenAndOne()}
	if _, err := session.New(sample(), options(dir, eight)).Run(t.Context(), a, session.Events{}); !refused(err, "") || a.asked != 0 {
		t.Errorf("%v; asked %d times", err, a.asked)
	}
}

// A baseline has the arrangement of the run that it is compared with, or is refused.
func TestBaselineOfAnotherArrangement(t *testing.T) {
	run := func(host journal.Host, split *plan.Split, change func(*plan.Spec)) string {
		dir := filepath.Join(t.TempDir(), "old")
		sp := sample()
		change(&sp)
		must.Get(session.New(sp, options(dir, host)).Run(t.Context(), &arranger{split: split}, session.Events{}))(t)
		return dir
	}
	asIs := func(*plan.Spec) {}
	sharing := func(s *plan.Spec) { s.Load.Shared = true }
	given := func(s *plan.Spec) { s.Target.CPUs, s.Load.CPUs = []int{0, 1}, []int{2} }
	apart, shared, byUser := run(eight, sevenAndOne(), asIs), run(eight, nil, sharing), run(eight, nil, given)
	for name, tc := range map[string]struct {
		old    string
		change func(*plan.Spec)
		want   string // in the refusal; "" for none
		cpus   string // the target's, then
	}{
		"both chosen":           {apart, asIs, "", "0-6"},
		"both shared":           {shared, sharing, "", ""},
		"both given":            {byUser, given, "", ""},
		"shared, now apart":     {shared, asIs, "the load ran on the target's CPUs, in this one it runs on CPUs of its own: add --cpus load=shared", ""},
		"apart, now shared":     {apart, sharing, "ran on CPUs of its own, in this one it runs on the target's CPUs", ""},
		"given, now chosen":     {byUser, asIs, "--cpus target=0-1,load=2", ""},
		"chosen, now given":     {apart, given, "--cpus target=0-6,load=7", ""},
		"shared, now elsewhere": {shared, func(s *plan.Spec) { s.Load.Command = "ssh box wrk {url}" }, "in this one it runs on another machine", ""},
	} {
		sp := sample()
		tc.change(&sp)
		o := options(filepath.Join(t.TempDir(), "new"), eight)
		o.Baseline = tc.old
		s := session.New(sp, o)
		_, err := s.CheckBaseline()
		if tc.want == "" && err != nil || tc.want != "" && !refused(err, tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
		o.Baseline, o.Like = "", tc.old
		for _, s := range []*session.Session{s, session.New(sp, o)} {
			if tc.cpus != "" && s.Header.Target.CPUs.String() != tc.cpus {
				t.Errorf("%s: the target is to run on %q, want %q", name, s.Header.Target.CPUs, tc.cpus)
			}
		}
	}
}

// A journal that says nothing of its load is not said to have the arrangement of this one.
func TestBaselineWithoutArrangement(t *testing.T) {
	shared := journal.ArrangementShared
	var old, now journal.Header
	old.Target.Kind, now.Target.Kind, now.Load.Arrangement = journal.KindServer, journal.KindServer, &shared
	const want = "in the earlier sweep the load ran where its journal does not say, in this one it runs on the target's CPUs"
	if err := session.ArrangedUnlike(old, now, false); !refused(err, want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := session.ArrangedUnlike(now, now, false); err != nil {
		t.Error(err)
	}
	old.Load.Arrangement = new(journal.ArrangementTunnel)
	if err := session.ArrangedUnlike(old, now, false); err == nil || !strings.HasPrefix(err.Error(), "in the earlier sweep the load ran through the API server, in this one") {
		t.Error(err)
	}
}

func TestLimited(t *testing.T) {
	for name, tc := range map[string]struct {
		effective float64
		given     []int
		attached  *plan.Attached
		want      bool
	}{
		"no limit":                    {8, nil, nil, false},
		"a limit":                     {2.5, nil, nil, true},
		"more than the target's":      {2.5, []int{0, 1}, nil, false},
		"not known":                   {0, nil, nil, false},
		"around an attached server":   {8, nil, &plan.Attached{LimitCPUs: 1}, true},
		"an attached server has none": {2.5, nil, &plan.Attached{}, false},
		"an attached server has more": {8, nil, &plan.Attached{LimitCPUs: 16}, false},
	} {
		sp, host := sample(), eight
		sp.Target.CPUs, sp.Target.Attach, host.EffectiveCPUs = tc.given, tc.attached, tc.effective
		if got := session.New(sp, options(t.TempDir(), host)).Spec.Limited; got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
