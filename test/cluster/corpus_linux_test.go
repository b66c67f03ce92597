package cluster_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/test/cluster"
	"github.com/procfit/procfit/test/must"
)

const manifests = "../../internal/check/manifest/testdata/corpus/kubernetes"

// expectation is what a manifest says of itself: the version to check it with, and what
// is then fixed.
var expectation = regexp.MustCompile(`(?m)^(?:\x{feff})?# (go|node-cpus|fixed): ([^\r\n]*)|"//[a-z]*": ?"(go|node-cpus|fixed): ([^"]*)"`)

// refusedAnyway are manifests that no API server takes, before and after a fix, with the
// reason: they stand for what a user may have written, not for what works.
var refusedAnyway = map[string]string{
	"ephemeral.yaml":    "ephemeral containers are added to a pod that runs",
	"kept-sandbox.yaml": "its RuntimeClass is not there",
	"placeholders.yaml": "what fills its placeholders in has not run",
}

// refusedLater are those that the API server takes and the kubelet does not start.
var refusedLater = []string{"other-container-missing.yaml"}

// TestCorpusIsAccepted holds the manifests of check against a real API server: it
// refuses those of which check says so, by PF016, and takes the others, as they are
// written and after a fix, which may leave a fault that is not the variable's.
func TestCorpusIsAccepted(t *testing.T) {
	t.Parallel()
	api := accessTo(t, running(t))
	ctx := limit(t)
	files, err := filepath.Glob(manifests + "/*")
	if err != nil || len(files) < 90 {
		t.Fatal(len(files), err)
	}
	fixed, refused := 0, 0
	for _, file := range files {
		text := must.Get(os.ReadFile(file))(t)
		name := filepath.Base(file)
		if strings.HasPrefix(name, "autoscaler_") || strings.HasPrefix(name, "resize_") {
			continue // their workloads are only what an autoscaler's rule reads
		}
		copied := filepath.Join(t.TempDir(), name)
		must.OK(t, os.WriteFile(copied, text, 0o644))
		args, wantFixed := flags(string(text)), strings.Contains(string(text), "fixed: ")
		// agree holds what check says of the file against what the API server says of it.
		agree := func(text []byte, when string) (why string, err error) {
			found := check(ctx, t, append(args, copied)...)
			says := !slices.Contains(refusedLater, name) && slices.ContainsFunc(found.Findings, func(f struct{ Rule, Object, Container, Message, Path string }) bool {
				return f.Rule == "PF016"
			})
			why, err = dryRun(ctx, api, text)
			if _, known := refusedAnyway[name]; err == nil && !known && says != (why != "") {
				t.Errorf("%s%s: check says refused: %v; the API server: %q\n%s", name, when, says, why, text)
			}
			return why, err
		}
		asWritten, err := agree(text, "")
		if err != nil {
			continue // no valid YAML
		}
		if asWritten != "" {
			refused++
		}
		after := check(ctx, t, append(args, "--fix", copied)...)
		if got := len(after.Fixed) > 0; got != wantFixed {
			t.Errorf("%s: fixed %v, want %v", name, got, wantFixed)
		}
		if len(after.Fixed) == 0 {
			continue
		}
		fixed++
		if text, err = os.ReadFile(copied); err != nil {
			t.Fatal(err)
		}
		if _, err := agree(text, ", fixed"); err != nil {
			t.Errorf("%s, fixed: %v\n%s", name, err, text)
		}
	}
	if t.Logf("%d fixed, %d refused as they are", fixed, refused); fixed < 40 || refused < 5 {
		t.Error("too few of them say anything")
	}
}

// TestRefusedLater: what check says of the name of a container that is not there.
func TestRefusedLater(t *testing.T) {
	t.Parallel()
	c := running(t)
	ctx := limit(t)
	namespace(ctx, t, c, "later")
	text := must.Read(t, filepath.Join(manifests, refusedLater[0]))
	kubectl(ctx, t, c, strings.Replace(text, "example.org/app", cluster.PauseImage, 1), "apply", "--namespace", "later", "-f", "-")
	for {
		out := kubectl(ctx, t, c, "", "get", "pod", "pair", "--namespace", "later", "--output", "jsonpath={.status.containerStatuses[0].state.waiting}")
		if strings.Contains(out, "CreateContainerConfigError") && strings.Contains(out, "gone not found") {
			return
		}
		if ctx.Err() != nil {
			t.Fatal(out)
		}
		time.Sleep(300 * time.Millisecond)
	}
}

func flags(text string) []string {
	var args []string
	for _, m := range expectation.FindAllStringSubmatch(text, -1) {
		if key := m[1] + m[3]; key != "fixed" {
			args = append(args, "--"+strings.TrimPrefix(key, "node-"), m[2]+m[4])
		}
	}
	return args
}

// dryRun is why the API server refuses the objects of a file, or nothing. The error is
// of YAML that is none.
func dryRun(ctx context.Context, a *access, text []byte) (refused string, err error) {
	objects, err := objectsOf(text)
	if err != nil {
		return "", err
	}
	for _, o := range objects {
		b, err := json.Marshal(o)
		if err != nil {
			return "", err
		}
		group := "/apis/"
		version, _ := o["apiVersion"].(string)
		if version == "v1" {
			group = "/api/"
		}
		kind, _ := o["kind"].(string)
		if err := a.create(ctx, group+version+"/namespaces/default/"+strings.ToLower(kind)+"s?dryRun=All", b); err != nil {
			return err.Error(), nil
		}
	}
	return "", nil
}

// objectsOf are the objects of a file that an API server knows, complete: the manifests
// leave out what is not about GOMAXPROCS. A custom resource gives a Pod of its template.
func objectsOf(text []byte) ([]map[string]any, error) {
	var all []map[string]any
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		all = append(all, flatten(v)...)
	}
	for i, o := range all {
		name := fmt.Sprintf("o%d", i)
		o["metadata"] = map[string]any{"name": name, "namespace": "default"}
		spec, _ := o["spec"].(map[string]any)
		switch o["kind"] {
		case "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet":
			labels := map[string]any{"app": name}
			spec["selector"] = map[string]any{"matchLabels": labels}
			template, _ := spec["template"].(map[string]any)
			template["metadata"] = map[string]any{"labels": labels}
			if o["kind"] == "StatefulSet" {
				spec["serviceName"] = name
			}
		}
	}
	return all, nil
}

// native are the kinds that need no definition.
var native = []string{"Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "CronJob", "Job", "ConfigMap", "LimitRange"}

func flatten(v any) []map[string]any {
	var all []map[string]any
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			all = append(all, flatten(item)...)
		}
	case map[string]any:
		kind, _ := v["kind"].(string)
		version, _ := v["apiVersion"].(string)
		switch {
		case kind == "List":
			return flatten(v["items"])
		case slices.Contains(native, kind) && !strings.Contains(version, "example"):
			complete(v)
			return []map[string]any{v}
		case v["containers"] != nil:
			complete(v)
			return []map[string]any{{"apiVersion": "v1", "kind": "Pod", "spec": v}}
		case kind == "CustomResourceDefinition":
			return nil
		}
		for _, key := range sortedKeys(v) {
			all = append(all, flatten(v[key])...)
		}
	}
	return all
}

func sortedKeys(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// complete gives every container the name and the image that a patch or a service of
// Knative leaves to others.
func complete(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			complete(item)
		}
	case map[string]any:
		for key, list := range v {
			complete(list)
			if containers, ok := list.([]any); ok && (key == "containers" || key == "initContainers") {
				for i, c := range containers {
					c, _ := c.(map[string]any)
					for field, value := range map[string]any{"name": fmt.Sprintf("c%d", i), "image": "example.org/x"} {
						if c != nil && c[field] == nil {
							c[field] = value
						}
					}
				}
			}
		}
	}
}
