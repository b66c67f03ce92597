package cluster

import (
	"context"
	"fmt"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

const (
	ruleDiffers  = "PF050"
	ruleInjected = "PF051"
	ruleOpen     = "PF046"
)

// liveJudged is in place of a rule: the live value of a container is judged, and not the resolved one.
const liveJudged = "live"

// ofDefault are of the runtime's value, ofValue of any that a spec gives; for ofSpec the exporter
// knows too little.
var (
	ofDefault = map[string]bool{"PF005": true, "PF006": true, "PF008": true, "PF018": true}
	ofValue   = map[string]bool{"PF001": true, "PF002": true, "PF004": true, "PF060": true}
	ofSpec    = map[string]bool{"PF018": true, "PF060": true}
)

type judging struct {
	*manifest.Checker
	byPath map[string]*workload
}

func (j judging) Finish(ctx context.Context, to check.Sink) error {
	s := &sink{Sink: to, byPath: j.byPath, found: map[found]bool{}}
	if err := j.Checker.Finish(ctx, s); err != nil {
		return err
	}
	s.seen()
	return nil
}

type found struct{ path, container, rule string }

type sink struct {
	check.Sink
	byPath map[string]*workload
	found  map[found]bool
	places []rule.Place // of the values
}

// What runs may break a rule that its spec keeps: an ignore that suppresses nothing here may still be needed.
func (s *sink) Ignore(i check.Ignore) {
	i.Unsure = true
	s.Sink.Ignore(i)
}

// The values come before the findings.
func (s *sink) Finding(f check.Finding) {
	if w := s.byPath[f.Path]; w != nil {
		if st := w.containers[f.Container]; st.Other && !st.Sets {
			return // no Go program, whatever --go says of all
		} else if f.Rule == ruleOpen && st.Live != nil && st.Live.Procs > 0 {
			return // the exporter has read it
		} else if ofDefault[f.Rule] && st.Live.isSet() {
			return // it does not use the runtime's value
		}
	}
	differs := s.found[found{f.Path, f.Container, ruleDiffers}] || s.found[found{f.Path, f.Container, liveJudged}]
	if differs && (ofValue[f.Rule] || ofDefault[f.Rule]) {
		return // what the exporter sees is reported instead
	}
	s.found[found{f.Path, f.Container, f.Rule}] = true
	s.Sink.Finding(f)
}

func (s *sink) Value(v check.Value) {
	w := s.byPath[v.Path]
	if w == nil {
		s.Sink.Value(v)
		return
	}
	s.places = append(s.places, v.Place)
	st := w.containers[v.Container]
	v.Go = v.Go && (!st.Other || st.Sets)
	if w.injected[v.Container] {
		s.Finding(check.NewFinding(ruleInjected, v.Place,
			"GOMAXPROCS is set in its pods, but not in the template of "+w.owner.Kind+"/"+w.owner.Name+": probably an admission webhook added it",
			"find out which: kubectl get mutatingwebhookconfigurations"))
	}
	switch {
	case (st.Live == nil || st.Live.Procs == 0) && st.Resized && v.Procs != nil:
		f := check.NewFinding(ruleDiffers, v.Place,
			fmt.Sprintf("it may use another value than %d: %s was read when its container started, and the pod was resized later", *v.Procs, st.Drawn), afresh)
		f.Severity = rule.Info
		s.Finding(f)
		v.Source += ", the value after a restart"
	case st.Live != nil && st.Live.Procs > 0:
		v.Go = true
		n, spec, source := st.Live.Procs, v.Text, "read by the exporter; "
		switch {
		case spec == fmt.Sprint(n):
			source += "the spec says the same: "
		case s.allowed(v, st):
			source += "by its spec alone it would be " + spec + ": "
		default:
			s.differs(v, st)
			source += "by its spec it should be " + spec + ": "
		}
		v.Source = source + v.Source
		v.Procs, v.Text, v.Open = &n, fmt.Sprint(n), ""
	}
	s.Sink.Value(v)
}

const afresh = "restart it; if it is built with Go 1.25 or newer, remove the variable, and the runtime follows the limit"

// allowed: the spec sets no variable, and the program has set it, or its runtime counts fewer CPUs
// than the node has, because the kubelet reserves some or gives them to other pods (static CPU
// manager). The live value is then judged.
func (s *sink) allowed(v check.Value, st state) bool {
	byCode := st.Live.SetBy == string(rule.SetByCode)
	fewer := st.Live.SetBy == string(rule.SetByAuto) && v.Procs != nil && st.Live.Procs < *v.Procs
	if v.Unit == nil || v.Unit.Facts.Env.State != facts.Absent || !byCode && !fewer {
		return false
	}
	o := v.Unit.Observed
	o.Live, o.Custom = &st.Live.Procs, &byCode
	for _, f := range rule.Judge(rule.NewSubject(o)) {
		if ofSpec[f.Rule] {
			s.Finding(check.Finding{Finding: f})
		}
	}
	s.found[found{v.Path, v.Container, liveJudged}] = true
	return true
}

func (s *sink) differs(v check.Value, st state) {
	if v.Procs == nil {
		return
	}
	config := ""
	if v.Unit != nil {
		config = v.Unit.Config
	}
	byEnv := st.Live.SetBy == string(rule.SetByEnv)
	why, fix := "", "find out why on its node: procfit explain PID"
	switch {
	case st.Resized:
		why, fix = fmt.Sprintf(": %s was read when its container started, and the pod was resized later", st.Drawn), afresh
	case st.Live.SetBy == string(rule.SetByCode):
		why, fix = ": the program sets it itself", "set it in one place only: remove the call, or the variable"
	case config != "" && (byEnv || st.Live.SetBy == string(rule.SetByAuto)):
		why, fix = fmt.Sprintf(": GOMAXPROCS comes from ConfigMap %s, which was read when its container started, and was probably changed later", config), afresh
	case byEnv && !st.Sets:
		why = ": GOMAXPROCS is in its environment but not in its spec: the image sets it, or the container runtime adds it (min_injected_gomaxprocs of CRI-O)"
		fix = `check the configuration of the image; the annotation skip-gomaxprocs.crio.io: "true" stops CRI-O from adding it`
		if st.From {
			why += ", or a ConfigMap of envFrom set it when its container started"
			fix = "restart it; if it still has GOMAXPROCS, " + fix
		}
	}
	s.Finding(check.NewFinding(ruleDiffers, v.Place, fmt.Sprintf("it uses GOMAXPROCS=%d, but by its spec it should be %d%s", st.Live.Procs, *v.Procs, why), fix))
}

// seen adds rules of the running program that nothing written breaks, such as throttling.
func (s *sink) seen() {
	for _, at := range s.places {
		st := s.byPath[at.Path].containers[at.Container]
		if st.Live == nil {
			continue
		}
		for id, severity := range st.Live.Rules {
			r, known := rule.Find(id)
			differs := ofValue[id] && s.found[found{at.Path, at.Container, ruleDiffers}] // which says it already
			if !known || differs || s.found[found{at.Path, at.Container, id}] {
				continue
			}
			f := check.NewFinding(id, at, "the exporter reports: "+r.Title, r.Fix)
			f.Severity = severity
			s.found[found{at.Path, at.Container, id}] = true
			s.Sink.Finding(f)
		}
	}
}
