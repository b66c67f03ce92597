package plan

import (
	"testing"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

func podSpec() Spec {
	s := Default()
	s.Target.Pods, s.Target.URL = &Pods{Object: "deployment/api", Namespace: "shop"}, "http://{pod}:8080/"
	return s
}

// Pods need no command, and take none.
func TestPods(t *testing.T) {
	s := podSpec()
	s.Replicas = []int{1, 3}
	must.OK(t, s.Validate())
	if s.Title() != "api" || !s.Target.IsServer() {
		t.Errorf("%s, a %s", s.Title(), s.Target.Kind())
	}
	if a := s.Arrangement(); *a != journal.ArrangementShared || s.ApartOn(8) {
		t.Errorf("on one node: %s, set apart here: %v", *a, s.ApartOn(8))
	}
	s.Target.Pods.LoadElsewhere = true
	if a := s.Arrangement(); *a != journal.ArrangementElsewhere {
		t.Errorf("on two nodes: %s", *a)
	}
	s.Target.Pods.LoadFromHere = true
	if a := s.Arrangement(); *a != journal.ArrangementTunnel || s.LoadOnTargetHost() {
		t.Errorf("through the API server: %s, on the target's host: %v", *a, s.LoadOnTargetHost())
	}
	s.Target.Pods.Object = "deploy/api.yaml"
	if s.Title() != "api" {
		t.Errorf("of a manifest: %s", s.Title())
	}
}
