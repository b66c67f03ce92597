package cluster_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/cluster"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// plugin is the file of the guide that makes procfit a post-renderer of Helm 4.
var plugin = regexp.MustCompile("(?s)```yaml\n( +apiVersion: v1\n +type: postrenderer/v1\n.*?)\n +```")

// TestPostRenderer: Helm renders a chart with the plugin of the guide, and gets the fixes. It
// stops where a finding remains.
func TestPostRenderer(t *testing.T) {
	t.Parallel()
	need.Everything(t, "builds Helm; check_filter.txtar holds what procfit does")
	page := must.Get(os.ReadFile("../../docs/how-to/fix-a-manifest.md"))(t)
	found := plugin.FindSubmatch(page)
	if found == nil {
		t.Fatal("the guide has no plugin.yaml")
	}
	ctx, dir := limit(t), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		must.Write(t, filepath.Join(dir, name), text)
	}
	write("plugins/procfit-fix/plugin.yaml", strings.ReplaceAll(string(found[1]), "\n    ", "\n")[4:])
	write("chart/Chart.yaml", "apiVersion: v2\nname: shop\nversion: 1.0.0\n")
	write("chart/templates/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: words}\ndata: {a: b}\n")
	write("chart/templates/pod.yaml", `apiVersion: v1
kind: Pod
metadata: {name: api}
spec:
  containers:
    - name: api
      image: example.org/api
      env: [{name: GOMAXPROCS, value: {{ .Values.procs }}}]
      resources: {limits: {cpu: "2"}}
`)
	program := must.Get(cluster.Helm(ctx, os.Stderr))(t)
	template := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, program, append([]string{"template", "shop", filepath.Join(dir, "chart"), "--post-renderer", "procfit-fix"}, args...)...)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(procfit(t))+":"+os.Getenv("PATH"), "HELM_PLUGINS="+filepath.Join(dir, "plugins"), "HELM_CACHE_HOME="+dir, "HELM_CONFIG_HOME="+dir, "HELM_DATA_HOME="+dir)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := template("--set-json", `procs="\"8\""`, "--post-renderer-args", "--cpus=64")
	if err != nil || !strings.Contains(out, `value: "2"`) || !strings.Contains(out, "kind: ConfigMap") || strings.Contains(out, "fixed:") {
		t.Errorf("%v: %s", err, out)
	}
	// A variable with a value and a valueFrom has no safe fix.
	out, err = template("--set-json", `procs="\"2\", valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: \"1\"}}"`, "--post-renderer-args", "--output=text="+filepath.Join(dir, "procfit.log"))
	report, errLog := os.ReadFile(filepath.Join(dir, "procfit.log"))
	if err == nil || errLog != nil || !strings.Contains(string(report), "PF016 error") {
		t.Errorf("%v, %v: %s, %s", err, errLog, out, report)
	}
	if out, err = template("--set-json", `procs="\"2\", valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: \"1\"}}"`, "--post-renderer-args", "--exit-zero"); err != nil || !strings.Contains(out, "resourceFieldRef") {
		t.Errorf("%v: %s", err, out)
	}
}
