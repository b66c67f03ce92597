package scripts

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	kubelabels "k8s.io/apimachinery/pkg/labels"
)

// fakeAPI is an API server with one namespace, shop, and what a file holds: enough of
// one to say what a sweep would make, to refuse it, and to make pods that do not come to
// run. It forwards no port.
type fakeAPI struct {
	Objects map[string]map[string]any // by path
	Denied  []string                  // rights that the user lacks: "create pods"
	Status  map[string]any            // of pods that are made
	Fails   int                       // the status of every answer; 0: as it should be
	Policy  string                    // why no ephemeral container may be added; empty: one may
	Context map[string]any            // the securityContext that admission gives to one; nil: its own

	mu  sync.Mutex
	log *os.File // what was made and deleted, a line each
}

// fakeKube (fakekube WORLD.json KUBECONFIG LOG) serves until it is interrupted. The
// kubeconfig is written once it listens.
func fakeKube() {
	f := new(fakeAPI)
	b, err := os.ReadFile(os.Args[1])
	must(err)
	must(json.Unmarshal(b, f))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	f.log, err = os.Create(os.Args[3])
	must(err)
	must(os.WriteFile(os.Args[2], Kubeconfig("http://"+l.Addr().String()), 0o600))
	serve(l, f)
}

func serve(l net.Listener, handler http.Handler) {
	go http.Serve(l, handler)
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	<-end
}

// FakeShop is a kubeconfig of an API server with a Deployment, a CronJob and three nodes.
func FakeShop(t *testing.T) string {
	const api = `{"metadata": {"name": "api"}, "spec": {"selector": {"matchLabels": {"app": "api"}}, "template": {"metadata": {"labels": {"app": "api"}}, "spec": {"containers": [{"name": "app", "ports": [{"containerPort": 8080}], "resources": {"limits": {"cpu": "1"}}}]}}}}`
	const imports = `{"metadata": {"name": "import"}, "spec": {"jobTemplate": {"spec": {"template": {"spec": {"containers": [{"name": "app"}]}}}}}}`
	const node = `{"metadata": {"name": "NAME"}, "status": {"capacity": {"cpu": "4"}, "conditions": [{"type": "Ready", "status": "True"}]}}`
	const service = `{"metadata": {"name": "api"}, "spec": {"selector": {"app": "api"}}}`
	f := &fakeAPI{Objects: map[string]map[string]any{}}
	objects := map[string]string{
		"/apis/apps/v1/namespaces/shop/deployments/api": api, "/api/v1/namespaces/shop/services/api": service, "/apis/batch/v1/namespaces/shop/cronjobs/import": imports,
	}
	for _, name := range []string{"node1", "node2", "node3"} {
		objects["/api/v1/nodes/"+name] = strings.Replace(node, "NAME", name, 1)
	}
	for i := range 20 {
		name := fmt.Sprintf("api-%d", i)
		objects["/api/v1/namespaces/shop/pods/"+name] = fmt.Sprintf(`{"metadata": {"name": %q, "labels": {"app": "api"}}, "spec": {"nodeName": "node1", "containers": [{"name": "app", "ports": [{"containerPort": 8080}]}]}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}`, name)
	}
	for path, text := range objects {
		var o map[string]any
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		f.Objects[path] = o
	}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, Kubeconfig(server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Kubeconfig leads to a server, and to its namespace shop.
func Kubeconfig(server string) []byte {
	return fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: "%s"}}], users: [{name: u}], contexts: [{name: c, context: {cluster: c, user: u, namespace: shop}}]}`, server)
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var body map[string]any
	json.NewDecoder(r.Body).Decode(&body) // of a GET there is none
	switch object := f.Objects[r.URL.Path]; {
	case f.Fails != 0:
		f.fail(w, f.Fails, strings.ReplaceAll(http.StatusText(f.Fails), " ", ""), "no")
	case path.Dir(r.URL.Path) == "/api/v1/namespaces" && path.Base(r.URL.Path) != "nowhere": // a namespace that does not exist
		f.write(w, http.StatusOK, map[string]any{"kind": "Namespace", "apiVersion": "v1", "metadata": map[string]any{"name": path.Base(r.URL.Path)}})
	case r.Method == http.MethodGet && slices.Contains(f.Denied, "list "+path.Base(r.URL.Path)) && fakeLists[path.Base(r.URL.Path)] != "":
		f.fail(w, http.StatusForbidden, "Forbidden", path.Base(r.URL.Path)+" is forbidden: User \"ann\" cannot list them")
	case strings.HasSuffix(r.URL.Path, "/portforward"):
		f.fail(w, http.StatusNotFound, "NotFound", "no port is forwarded here")
	case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		a := body["spec"].(map[string]any)["resourceAttributes"].(map[string]any)
		resource := fmt.Sprint(a["resource"])
		if sub, ok := a["subresource"].(string); ok {
			resource += "/" + sub
		}
		body["status"] = map[string]any{"allowed": !slices.Contains(f.Denied, fmt.Sprint(a["verb"], " ", resource))}
		f.write(w, http.StatusCreated, body)
	case r.Method == http.MethodPost:
		f.create(w, r, body)
	case r.Method == http.MethodPatch && path.Base(r.URL.Path) == "ephemeralcontainers":
		f.addContainer(w, r, body)
	case object != nil && r.Method == http.MethodGet:
		f.write(w, http.StatusOK, object)
	case object != nil && r.Method == http.MethodPut:
		f.Objects[r.URL.Path] = body
		f.write(w, http.StatusOK, body)
	case object != nil && r.Method == http.MethodDelete:
		delete(f.Objects, r.URL.Path)
		fmt.Fprintln(f.log, "deleted", path.Base(path.Dir(r.URL.Path)))
		f.write(w, http.StatusOK, object)
	case r.Method == http.MethodGet && fakeLists[path.Base(r.URL.Path)] != "":
		f.list(w, r)
	default:
		f.fail(w, http.StatusNotFound, "NotFound", fmt.Sprintf("%q not found", path.Base(r.URL.Path)))
	}
}

func (f *fakeAPI) create(w http.ResponseWriter, r *http.Request, body map[string]any) {
	meta := body["metadata"].(map[string]any)
	if slices.Contains(f.Denied, "quota") && path.Base(r.URL.Path) == "pods" {
		f.fail(w, http.StatusForbidden, "Forbidden", "exceeded quota: compute, requested: limits.cpu=2, used: limits.cpu=1, limited: limits.cpu=2")
		return
	}
	if r.URL.Query().Get("dryRun") == "" {
		meta["uid"], meta["creationTimestamp"] = "1", time.Unix(1, 0).UTC().Format(time.RFC3339)
		if path.Base(r.URL.Path) == "pods" {
			body["status"] = f.Status
		}
		f.Objects[path.Join(r.URL.Path, meta["name"].(string))] = body
		fmt.Fprintln(f.log, "made", path.Base(r.URL.Path))
	}
	f.write(w, http.StatusCreated, body)
}

// addContainer adds an ephemeral container to a pod, or has it tried alone.
func (f *fakeAPI) addContainer(w http.ResponseWriter, r *http.Request, patch map[string]any) {
	pod := f.Objects[path.Dir(r.URL.Path)]
	switch {
	case pod == nil:
		f.fail(w, http.StatusNotFound, "NotFound", "the pod is not found")
		return
	case f.Policy != "":
		f.fail(w, http.StatusForbidden, "Forbidden", f.Policy)
		return
	}
	list := patch["spec"].(map[string]any)["ephemeralContainers"].([]any)
	if f.Context != nil {
		list[0].(map[string]any)["securityContext"] = f.Context
	}
	if r.URL.Query().Get("dryRun") == "" {
		fmt.Fprintln(f.log, "made a container")
	}
	f.write(w, http.StatusOK, map[string]any{"kind": "Pod", "apiVersion": "v1", "metadata": pod["metadata"], "spec": map[string]any{"ephemeralContainers": list}})
}

var fakeLists = map[string]string{
	"pods": "PodList", "configmaps": "ConfigMapList", "services": "ServiceList", "nodes": "NodeList",
	"replicasets": "ReplicaSetList", "statefulsets": "StatefulSetList", "daemonsets": "DaemonSetList",
	"namespaces": "NamespaceList", "deployments": "DeploymentList", "cronjobs": "CronJobList",
	"horizontalpodautoscalers": "HorizontalPodAutoscalerList", "poddisruptionbudgets": "PodDisruptionBudgetList",
}

func (f *fakeAPI) list(w http.ResponseWriter, r *http.Request) {
	items := []map[string]any{}
	selector, err := kubelabels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		f.fail(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	for name, o := range f.Objects {
		have := kubelabels.Set{}
		marks, _ := o["metadata"].(map[string]any)["labels"].(map[string]any)
		for k, v := range marks {
			have[k] = fmt.Sprint(v)
		}
		if path.Dir(name) == r.URL.Path && selector.Matches(have) {
			items = append(items, o)
		}
	}
	group := "v1"
	if parts := strings.Split(r.URL.Path, "/"); parts[1] == "apis" {
		group = parts[2] + "/" + parts[3]
	}
	f.write(w, http.StatusOK, map[string]any{"kind": fakeLists[path.Base(r.URL.Path)], "apiVersion": group, "metadata": map[string]any{}, "items": items})
}

func (f *fakeAPI) fail(w http.ResponseWriter, code int, reason, message string) {
	f.write(w, code, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message})
}

func (f *fakeAPI) write(w http.ResponseWriter, code int, v map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(v)
}
