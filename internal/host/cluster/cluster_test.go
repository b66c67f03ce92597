package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	authv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/procfit/procfit/test/must"
)

// A call is repeated while its error may pass, and no longer than the client's patience.
func TestCall(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	busy, forbidden := apierrors.NewServiceUnavailable("busy"), apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", nil)
	for name, tc := range map[string]struct {
		answers []error // the last one is repeated
		calls   int
		took    time.Duration
		want    error
	}{
		"at once": {[]error{nil}, 1, 0, nil},
		"then":    {[]error{busy, busy, nil}, 3, 2 * callAgain, nil},
		"refused": {[]error{busy, forbidden}, 2, callAgain, forbidden},
		"never":   {[]error{busy}, 22, 21 * callAgain, busy},
		// At first nothing may run there at all; later the server may come back.
		"nobody there": {[]error{refused}, 1, 0, refused},
		"restarted":    {[]error{busy, refused, nil}, 3, 2 * callAgain, nil},
		"not known":    {[]error{errors.ErrUnsupported}, 1, 0, errors.ErrUnsupported},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, calls, began := &Client{patience: 20 * callAgain}, 0, time.Now()
			err := c.Call(t.Context(), func(context.Context) error {
				calls++
				return tc.answers[min(calls, len(tc.answers))-1]
			})
			if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) || calls != tc.calls || time.Since(began) != tc.took {
				t.Errorf("%s: %v after %d calls and %v, want %v after %d and %v", name, err, calls, time.Since(began), tc.want, tc.calls, tc.took)
			}
		})
	}
}

// An address that nobody answers is explained by its host, and nothing of it is waited for.
func TestExplain(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {})
	secure, open := httptest.NewTLSServer(answer), httptest.NewServer(answer)
	defer secure.Close()
	defer open.Close()
	secure.Config.ErrorLog, open.Config.ErrorLog = log.New(io.Discard, "", 0), log.New(io.Discard, "", 0)
	for host, want := range map[string]string{
		secure.URL:             "has a certificate that no CA certificate of the kubeconfig has signed; does --context name the cluster?",
		"https" + open.URL[4:]: "does not speak TLS; correct server: in the kubeconfig to http://",
		"http://127.0.0.1:1":   "refuses connections: does the cluster run, and does --context name it?",
	} {
		c, err := New(&rest.Config{Host: host}, "shop", Use{PerSecond: 50, Patience: time.Hour})
		must.OK(t, err)
		err = c.Call(t.Context(), func(ctx context.Context) error {
			return c.Core.Get().Resource("pods").Do(ctx).Error()
		})
		if err == nil || !strings.HasPrefix(err.Error(), "the API server at "+host+" "+want) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestConnect(t *testing.T) {
	asked := []string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.UserAgent())
		w.Header().Set("Content-Type", "application/json")
		w.Header().Add("Warning", `299 - "v1 is old"`)
		if r.Method == http.MethodPost {
			var review authv1.SelfSubjectAccessReview
			if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
				t.Error(err)
			}
			review.APIVersion, review.Kind = "authorization.k8s.io/v1", "SelfSubjectAccessReview"
			a := review.Spec.ResourceAttributes
			review.Status.Allowed = a.Resource == "pods" && a.Subresource == "log" && a.Namespace == "shop"
			json.NewEncoder(w).Encode(review)
			return
		}
		p := corev1.Pod{}
		p.APIVersion, p.Kind, p.Name = "v1", "Pod", "p"
		json.NewEncoder(w).Encode(p)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "config")
	text := "{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: c, cluster: {server: '" + server.URL + "'}}], contexts: [{name: a, context: {cluster: c, namespace: shop}}]}"
	must.OK(t, os.WriteFile(file, []byte(text), 0o600))
	c := must.Get(Connect(Access{Kubeconfig: file}, Use{PerSecond: 50}))(t)
	var p corev1.Pod
	for range 2 {
		if err := c.Core.Get().Namespace(c.Namespace).Resource("pods").Name("p").Do(t.Context()).Into(&p); err != nil || p.Name != "p" {
			t.Fatalf("%v, %q", err, p.Name)
		}
	}
	if want := "GET /api/v1/namespaces/shop/pods/p procfit"; asked[0] != want {
		t.Errorf("asked %q, want %q", asked[0], want)
	}
	if got := c.Warnings(); !slices.Equal(got, []string{"v1 is old"}) {
		t.Errorf("warnings %q, want one", got)
	}
	nodes := Right{Verb: "list", Group: "x", Resource: "nodes", Cluster: true}
	lacks, err := c.Missing(t.Context(), []Right{{Verb: "get", Resource: "pods/log"}, nodes})
	if err != nil || !slices.Equal(lacks, []Right{nodes}) || nodes.String() != "list nodes.x" {
		t.Errorf("%v: lacks %v", err, lacks)
	}
	if _, err := Connect(Access{Kubeconfig: file, Context: "other"}, Use{}); err == nil || !strings.HasSuffix(err.Error(), `--context "other" is not in `+file+"; choose one of its contexts with --context: a") {
		t.Errorf("%v", err)
	}
	if _, err := New(&rest.Config{Host: "http://a b"}, "", Use{}); err == nil {
		t.Error("an address that is not valid is taken")
	}
}
