package manifest

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// TestAmong: the note about a service that may run several programs has the name of the service.
func TestAmong(t *testing.T) {
	programs := &check.Programs{}
	for from, version := range map[string]string{"a/web": "go1.24", "b/web": "go1.26"} {
		programs.Add(check.Candidate{Program: check.Program{GoVersion: version, From: from}, Names: []string{"web"}})
	}
	file := map[string]string{"compose.yaml": "services: {web: {image: x}}\n"}
	r := expectation{options: Options{Programs: programs}}.run(t, written(t, file), nil)
	if len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0].Message, "service web: its program may be a/web or b/web, ") {
		t.Errorf("%+v", r.Notes)
	}
}

// TestExpand: variables are replaced as the kubelet does (k8s.io/kubernetes, third_party/forked/golang/expansion).
func TestExpand(t *testing.T) {
	known := map[string]string{"B": "4"}
	for s, want := range map[string]string{
		"$(B)$(B)": "44", "$$(B)": "$(B)", "$$$(B)$": "$4$", "$B$(": "$B$(", "$($$": "$($", "$(C)$(B)": "$(C)4", "$(A$(B))": "$(A$(B))",
	} {
		if got := expand(s, known); got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}

// TestAsBuilt: the image of a release may be older than the go.mod next to its manifest.
func TestAsBuilt(t *testing.T) {
	for _, tc := range []struct {
		image, from, id string
		env             facts.State
		want            string
	}{
		{"ghcr.io/acme/api:1.25.0-rc1", "go.mod", "PF001", facts.Absent, "too high, if api:1.25.0-rc1 was built with the Go version of go.mod"},
		{"acme/api:v2.1@sha256:00", "src/go.mod", "PF007", facts.Known, "too high, if api:v2.1 was built with the Go version of src/go.mod"},
		{"api:1.2", "go.mod", "PF006", facts.Absent, "too high, if api:1.2 was built with the Go version of go.mod"},
		{"registry:5000/acme/api", "go.mod", "PF001", facts.Absent, "too high"},
		{"acme/api:main", "go.mod", "PF001", facts.Absent, "too high"},
		{"acme/api:1.2", "bin/api", "PF001", facts.Absent, "too high"},
		{"acme/api:1.2", "go.mod", "PF001", facts.Known, "too high"},
		{"acme/api:1.2", "go.mod", "PF018", facts.Absent, "too high"},
		{"", "go.mod", "PF001", facts.Absent, "too high"},
	} {
		u := unit{image: tc.image, beside: true, program: check.Program{From: tc.from}, env: variable{state: tc.env}}
		if got := u.asBuilt(rule.Finding{Rule: tc.id, Message: "too high"}).Message; got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
		u.beside = false // an annotation says which Go it is
		if got := u.asBuilt(rule.Finding{Rule: tc.id, Message: "too high"}).Message; strings.Contains(got, "built") {
			t.Errorf("%+v, by an annotation: %s", tc, got)
		}
	}
	u := unit{image: "gcr.io/not-acme/api", beside: true, program: check.Program{From: "go.mod", Elsewhere: true}}
	if got := u.asBuilt(rule.Finding{Rule: "PF007", Message: "too high"}).Message; got != "too high, if gcr.io/not-acme/api is of the module of go.mod" {
		t.Error(got)
	}
}
