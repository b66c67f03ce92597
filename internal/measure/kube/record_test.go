package kube

import (
	"context"
	"encoding/json"
	"net/http"
	"path"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
)

// A ConfigMap of procfit's that names no run is not left of one: its removal would be that
// of every run in the namespace, those at work too.
func TestLeftoversAreRuns(t *testing.T) {
	record := func(labels map[string]string) corev1.ConfigMap {
		return corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
	}
	s := &server{answer: func(r *http.Request) any {
		if got := r.URL.Query().Get("labelSelector"); got != "app.kubernetes.io/managed-by=procfit,procfit.dev/run" {
			t.Errorf("asked for %q", got)
		}
		return corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{Kind: "ConfigMapList", APIVersion: "v1"}, Items: []corev1.ConfigMap{
			record(map[string]string{labelManager: manager}), record(map[string]string{labelManager: manager, labelRun: ""}), record(map[string]string{labelManager: manager, labelRun: "a"}),
		}}
	}}
	list, err := on(t, s, plan.Default()).cluster.leftovers(t.Context(), time.Now())
	if err != nil || len(list) != 1 || list[0].Run != "a" || list[0].Alive {
		t.Errorf("%v: %+v", err, list)
	}
}

// After Ctrl-C the record of the run may be there although its answer was not waited for: it is removed too.
func TestCloseWithoutAnswer(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	left := []corev1.ConfigMap{}
	s := &server{answer: func(q *http.Request) any {
		switch kind := path.Base(q.URL.Path); {
		case q.Method == http.MethodPost:
			left = append(left, corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "procfit-a", Labels: map[string]string{labelManager: manager, labelRun: "a"}}})
			interrupt()
			return metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Message: "no answer"}
		case q.Method == http.MethodDelete:
			left = nil
		case kind == "pods":
			return corev1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}}
		}
		return corev1.ConfigMapList{TypeMeta: metav1.TypeMeta{Kind: "ConfigMapList", APIVersion: "v1"}, Items: left}
	}}
	r := on(t, s, plan.Default())
	if err := r.runner.Prepare(ctx, journal.Plan{}, nil); err == nil || len(left) != 1 {
		t.Fatalf("%v, and %d records", err, len(left))
	}
	if err := r.Close(); err != nil || len(left) > 0 {
		t.Errorf("%v, and %d records are left", err, len(left))
	}
}

// A record whose annotations somebody took out is renewed all the same, whatever its version.
func TestRenewWithoutAnnotations(t *testing.T) {
	var put corev1.ConfigMap
	s := &server{answer: func(r *http.Request) any {
		m := corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "ConfigMap", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "procfit-a", ResourceVersion: "7"}}
		if r.Method == http.MethodPut {
			if err := json.NewDecoder(r.Body).Decode(&put); err != nil {
				t.Error(err)
			}
		}
		return m
	}}
	must.OK(t, on(t, s, plan.Default()).cluster.renew(t.Context(), "a", time.Unix(0, 0)))
	if got := put.Annotations[aliveUntil]; got != "1970-01-01T00:00:00Z" {
		t.Errorf("alive until %q", got)
	}
	if put.ResourceVersion != "" {
		t.Errorf("of version %s, so that a call that is repeated is a conflict", put.ResourceVersion)
	}
}

// Only a pod that is not there was taken away; one that cannot be read was not.
func TestUnchangedUnread(t *testing.T) {
	refused := func(*http.Request) any {
		return metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden, Message: "pods is forbidden"}
	}
	for name, tc := range map[string]struct {
		s    *server
		code journal.InvalidCode
	}{"gone": {&server{gone: true}, journal.InvalidEvicted}, "refused": {&server{answer: refused}, ""}} {
		if err := on(t, tc.s, plan.Default()).unchanged(t.Context()); err == nil || codeOf(err) != tc.code {
			t.Errorf("%s: %v, want %q", name, err, tc.code)
		}
	}
}
