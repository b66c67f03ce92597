package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/lab/pods"
	"github.com/procfit/procfit/test/must"
)

// The document's fix is what check makes of the manifest before it: five lines, with the
// divisor.
func TestFix(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.yaml")
	must.OK(t, os.WriteFile(file, pods.Manifest("procfit:v1"), 0o600))
	was, err := checkManifest(t.Context(), file, false)
	if err != nil || was.Procs != nil || len(was.Findings) == 0 {
		t.Fatalf("%v: %+v", err, was)
	}
	is, err := checkManifest(t.Context(), file, true)
	if err != nil || is.Procs == nil || *is.Procs != 2 || len(is.Findings) != 0 {
		t.Fatalf("%v: %+v", err, is)
	}
	text := must.Get(os.ReadFile(file))(t)
	document := "env: - name: GOMAXPROCS valueFrom: resourceFieldRef: resource: limits.cpu divisor: \"1\""
	if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), document) || !bytes.Contains(text, []byte("image: procfit:v1")) {
		t.Errorf("after the fix it is\n%s", text)
	}
}
