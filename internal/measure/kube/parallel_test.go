package kube

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// nodesOf are nodes by name and CPUs: "a4 b4 c8!", one with a ! not ready.
func nodesOf(text string) (list []corev1.Node) {
	for word := range strings.FieldsSeq(text) {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: word[:1]}}
		n.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(word[1:2])}
		status := corev1.ConditionTrue
		if strings.HasSuffix(word, "!") {
			status = corev1.ConditionUnknown
		}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, Reason: "NodeStatusUnknown", Message: "Kubelet stopped posting node status."}}
		list = append(list, n)
	}
	return list
}

func TestChooseSeveral(t *testing.T) {
	for _, tc := range []struct{ nodes, named, want string }{
		{"a4 b4", "", "a<a b<b"},                     // none is left for the load
		{"a4 b4 c4", "", "a<c b<c"},                  // a third is
		{"a4 b4 c4 d4 e4 f4", "", "a<e b<f c<e d<f"}, // and more of more
		{"a4 b4 c2", "", "a<c b<c"},                  // one that is unlike is left anyway
		{"a4 b4 c4", "c,a", "a<b c<b"},
		{"a4 b4 c4", "a, b,c", "a<a b<b c<c"},
		{"a4 b8 c8", "", "b<a c<a"},
		{"a4 b4!", "", "found 1 node"},
		{"a4 b8", "", "found 1 node"},
		{"a4!", "", "no node is ready"},
		{"a4 b4", "a", "found 1 node"},
		{"a4 b4", "a,x", `--node "x"`},
		{"a4 b4", "a,a", "twice"},
		{"a4 b8", "a,b", "a has 4 CPUs and b has 8 CPUs, so unset would be a different value on each"},
	} {
		list, err := parallelPlaces(nodesOf(tc.nodes), tc.named)
		got := fmt.Sprint(err)
		if err == nil {
			var words []string
			for _, p := range list {
				words = append(words, p.target.name+"<"+p.load.name)
			}
			got = strings.Join(words, " ")
		}
		if err == nil && got != tc.want || err != nil && !strings.Contains(got, tc.want) {
			t.Errorf("%s of %s: %s, want %s", tc.named, tc.nodes, got, tc.want)
		}
	}
}

// A node that is not ready, or was not for a while, makes a trial invalid that is tried
// again.
func TestLostNode(t *testing.T) {
	then := time.Unix(100, 0)
	since := map[string]time.Time{"n": then}
	for name, tc := range map[string]struct {
		now  readiness
		want string
	}{
		"as before":    {readiness{ready: true, since: then}, ""},
		"not ready":    {readinessOf(&nodesOf("n4!")[0]), "node n is no longer ready: NodeStatusUnknown: Kubelet stopped posting node status."},
		"for a while":  {readiness{ready: true, since: then.Add(time.Minute)}, "node n was not ready for a while"},
		"says nothing": {readinessOf(&corev1.Node{}), "its state is unknown"},
	} {
		err := tc.now.lost("n", since)
		var failed *trial.Failure
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tc.want != "" && (!errors.As(err, &failed) || failed.Code != journal.InvalidNodeLost || !strings.Contains(failed.Reason, tc.want)):
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	if err := (readiness{ready: true, since: then}).lost("other", since); err != nil {
		t.Errorf("a node that was not looked at before: %v", err)
	}
}

func TestDigest(t *testing.T) {
	for in, want := range map[string]string{
		"docker.io/shop/api@sha256:abc": "sha256:abc", "mirror:5000/shop/api@sha256:abc": "sha256:abc", "sha256:abc": "sha256:abc", "": "",
	} {
		if got := digestOf(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	b := &firstImage{}
	for _, one := range []struct {
		image string
		same  bool
	}{{"a/api@sha256:1", true}, {"b/api@sha256:1", true}, {"a/api@sha256:2", false}} {
		if as, same := b.same(one.image); same != one.same || as != "a/api@sha256:1" {
			t.Errorf("%s: %v, beside %s", one.image, same, as)
		}
	}
	if got := ImageOf([]journal.Trial{{}, {Pods: []journal.Pod{{}, {ImageID: "x"}}}, {Pods: []journal.Pod{{ImageID: "y"}}}}); got != "x" {
		t.Errorf("the journal began with %q", got)
	}
}
