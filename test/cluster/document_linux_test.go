package cluster_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

var (
	describes = regexp.MustCompile(`GOMAXPROCS:\s+(\d+) \(limits\.cpu\)`)
	runsWith  = regexp.MustCompile(`GOMAXPROCS=(\d+) `)
	divisor   = regexp.MustCompile(`(?m)^ *divisor: .*\n`)
)

// TestDocument004 follows the document: its manifest, which has no divisor, is fixed by
// check, and what check says then, what kubectl describe shows and what the program
// runs with are one number.
func TestDocument004(t *testing.T) {
	t.Parallel()
	c := running(t)
	ctx := limit(t)
	must.OK(t, c.Load(ctx, procfit(t), "procfit.test/procfit:1"))
	b := must.Read(t, "../../deploy/kubernetes/k8sbench.yaml")
	text := strings.NewReplacer("registry.example.com/procfit:0.1", "procfit.test/procfit:1", `"/procfit"`, `"/app"`).Replace(b)
	file := filepath.Join(t.TempDir(), "k8sbench.yaml")
	must.OK(t, os.WriteFile(file, []byte(divisor.ReplaceAllString(text, "")), 0o644))
	fixed := check(ctx, t, "--fix", "--go", "1.24", file)
	after, err := os.ReadFile(file)
	if err != nil || string(after) != text || len(fixed.Fixed) != 1 {
		t.Errorf("%v: fixed it is not what deploy has:\n%s", err, after)
	}
	if len(fixed.Values) != 1 || fixed.Values[0].Procs == nil {
		t.Fatalf("values %+v", fixed.Values)
	}
	promised := *fixed.Values[0].Procs

	namespace(ctx, t, c, "document")
	kubectl(ctx, t, c, string(after), "apply", "--namespace", "document", "-f", "-")
	kubectl(ctx, t, c, "", "rollout", "status", "deployment/k8sbench", "--namespace", "document", "--timeout=120s")
	described := describes.FindStringSubmatch(kubectl(ctx, t, c, "", "describe", "pods", "--namespace", "document"))
	logged := runsWith.FindStringSubmatch(kubectl(ctx, t, c, "", "logs", "deployment/k8sbench", "--namespace", "document"))
	if described == nil || logged == nil || described[1] != "1" || logged[1] != "1" || promised != 1 {
		t.Errorf("check says %d, kubectl describe %v, the program %v; want 1 of all", promised, described, logged)
	}
}
