package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/cluster"
	"github.com/procfit/procfit/test/must"
)

// checked is what procfit check -o json tells, as far as it is used here.
type checked struct {
	Values []struct {
		Object, Container, Text, Source string
		Procs                           *int
	}
	Findings []struct {
		Rule, Object, Container, Message, Path string
	}
	Fixed []struct{ Path string }
}

// check runs procfit check; that it finds something is not an error.
func check(ctx context.Context, t *testing.T, args ...string) checked {
	t.Helper()
	return checkedBy(ctx, t, append([]string{"check"}, args...)...)
}

func checkedBy(ctx context.Context, t *testing.T, args ...string) checked {
	t.Helper()
	cmd := exec.CommandContext(ctx, procfit(t), append(args, "-o", "json", "--values")...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var c checked
	if err := json.Unmarshal(out, &c); err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
	return c
}

// told is what a program in a pod said of itself.
type told struct {
	Env         string
	Set         bool
	Procs, CPUs int
}

// programs are built with a go line each, which decides whether the runtime follows a
// limit.
var programs = map[string]string{"1.26": "new", "1.24": "old"}

// TestValues runs a pod for every way in which a limit, a divisor and a version meet:
// what the kubelet writes into the environment, and what the runtime then takes, is
// what check has said of the manifest.
func TestValues(t *testing.T) {
	c := running(t)
	ctx := limit(t)
	namespace(ctx, t, c, "values")
	for version, name := range programs {
		loadTell(ctx, t, c, version, name)
	}
	for version, name := range programs {
		t.Run("go"+version, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pods.yaml")
			text := podsOf(name)
			must.OK(t, os.WriteFile(file, []byte(text), 0o644))
			says := check(ctx, t, "--go", version, "--cpus", fmt.Sprint(runtime.NumCPU()), file)
			kubectl(ctx, t, c, text, "apply", "--namespace", "values", "-f", "-")
			if len(says.Values) < 20 {
				t.Errorf("%d values, want one for each pod", len(says.Values))
			}
			for _, v := range says.Values {
				pod := strings.TrimPrefix(v.Object, "Pod/")
				got := logged(ctx, t, c, pod, v.Container)
				if want := ofMachine(v.Procs, v.Text, got); want != got.Procs {
					t.Errorf("%s, container %s: it runs with %d (GOMAXPROCS=%q), check says %s: %s", pod, v.Container, got.Procs, got.Env, v.Text, v.Source)
				}
			}
		})
	}
}

// ofMachine is the number that check has named, where it may have named a machine's.
func ofMachine(procs *int, text string, got told) int {
	if procs == nil && text == "all CPUs of its machine" {
		return got.CPUs
	}
	if procs == nil {
		return -1
	}
	return *procs
}

// podsOf are the pods, of the image of a version.
func podsOf(image string) string {
	var b strings.Builder
	pod := func(name, spec string) {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s-%s}\nspec:\n  restartPolicy: Never\n  enableServiceLinks: false\n%s", name, image, spec)
	}
	container := func(env, resources string) string {
		s := "  containers:\n    - name: tell\n      image: procfit.test/" + image + ":1\n"
		if env != "" {
			s += "      env: [{name: GOMAXPROCS, " + env + "}]\n"
		}
		if resources != "" {
			s += "      resources: " + resources + "\n"
		}
		return s
	}
	limits := map[string]string{"500m": "{limits: {cpu: 500m}}", "1500m": "{limits: {cpu: 1500m}}", "none": "", "0": "{limits: {cpu: 0}}"}
	for limit, resources := range limits {
		for name, divisor := range map[string]string{"absent": "", "one": `, divisor: "1"`, "milli": ", divisor: 1m"} {
			pod("limit-"+limit+"-"+name, container("valueFrom: {resourceFieldRef: {resource: limits.cpu"+divisor+"}}", resources))
		}
		pod("limit-"+limit+"-unset", container("", resources))
	}
	request := "valueFrom: {resourceFieldRef: {resource: requests.cpu}}"
	pod("requests-none", container(request, ""))
	pod("requests-half", container(request, "{requests: {cpu: 500m}}"))
	pod("requests-of-limit", container(request, "{limits: {cpu: 1200m}}"))
	pod("literal", container(`value: "3"`, "{limits: {cpu: 500m}}"))
	pod("literal-quantity", container(`value: "500m"`, "{limits: {cpu: 500m}}"))
	pod("pod-level", "  resources: {limits: {cpu: 1500m}}\n"+container("valueFrom: {resourceFieldRef: {resource: limits.cpu}}", ""))
	pod("pod-level-unset", "  resources: {limits: {cpu: 1500m}}\n"+container("", ""))
	return b.String()
}

func loadTell(ctx context.Context, t *testing.T, c *cluster.Cluster, version, name string) {
	t.Helper()
	dir := t.TempDir()
	source := must.Read(t, "testdata/tell/main.go")
	for file, text := range map[string]string{"main.go": source, "go.mod": "module tell\n\ngo " + version + "\n"} {
		must.OK(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
	}
	must.OK(t, c.Load(ctx, compile(t, dir, "."), "procfit.test/"+name+":1"))
}

// logged waits until a program has told.
func logged(ctx context.Context, t *testing.T, c *cluster.Cluster, pod, container string) told {
	t.Helper()
	for {
		out, err := c.Kubectl(ctx, nil, "logs", "--namespace", "values", pod, "--container", container)
		var got told
		if err == nil && json.Unmarshal([]byte(out), &got) == nil && got.Procs > 0 {
			return got
		}
		if ctx.Err() != nil {
			state, _ := c.Kubectl(context.Background(), nil, "describe", "pod", "--namespace", "values", pod)
			t.Fatalf("%s does not tell: %v, %q\n%s", pod, err, out, state)
		}
		time.Sleep(300 * time.Millisecond)
	}
}
