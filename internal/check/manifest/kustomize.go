package manifest

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/maxprocs/facts"
)

// kustomization is what one says of the files that it renders.
type kustomization struct {
	dir       string
	resources []string // files and folders, from where paths are shown
	patches   []string // their texts, each with its target
	anything  bool     // it may change any object
}

// kustomizations are names of the file (kubectl.docs.kubernetes.io/references/kustomize).
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// patching are keys by which one changes more than names, labels and images, in objects that
// only Kustomize finds.
var patching = []string{"components", "transformers", "replacements"}

// kustomization reads a document of one. A ConfigMap that it generates is one of its folder.
func (c *Checker) kustomization(t text, doc int) {
	r, root := &reader{left: mostNodes}, t.docs[doc].root
	k := kustomization{dir: path.Dir(t.path)}
	for _, key := range []string{"resources", "bases"} {
		for _, item := range r.items(root, key) {
			if !strings.Contains(item.Value, "://") {
				k.resources = append(k.resources, path.Join(k.dir, item.Value))
			}
		}
	}
	k.anything = slices.ContainsFunc(patching, func(key string) bool { return len(r.items(root, key)) > 0 })
	for _, key := range []string{"patches", "patchesStrategicMerge", "patchesJson6902"} {
		for _, item := range r.items(root, key) {
			k.patch(r, t, item)
		}
	}
	for _, item := range r.items(root, "configMapGenerator") {
		o, data := &object{path: t.path, kind: "ConfigMap", name: r.str(item, "name"), namespace: r.str(item, "namespace")}, map[string]string{}
		for _, literal := range r.items(item, "literals") {
			if name, value, ok := strings.Cut(literal.Value, "="); ok && len(value) <= longestData {
				data[name] = unquote(value)
			}
		}
		c.store.config(o, data, r.get(item, "env") != nil || r.get(item, "envs") != nil || r.str(item, "behavior") == "merge")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kustomized = append(c.kustomized, k)
}

// patch takes a patch: a text, or an item with a text or a file, and with a target.
func (k *kustomization) patch(r *reader, t text, item *yaml.Node) {
	body, file, target := r.str(item, "patch"), r.str(item, "path"), r.get(item, "target")
	if item.Kind == yaml.ScalarNode {
		body = item.Value
		if !strings.Contains(body, "\n") {
			body, file = "", item.Value
		}
	}
	if file != "" {
		b, err := t.reads.Read(filepath.Join(filepath.FromSlash(k.dir), filepath.FromSlash(file)), mostDocument)
		k.anything = k.anything || err != nil || t.path == check.Stdin
		body = string(b)
	}
	about := body + r.str(target, "kind")
	if !slices.ContainsFunc(deciding, func(w string) bool { return strings.Contains(about, w) }) {
		return
	}
	if name := r.str(target, "name"); target != nil && strings.Trim(name, nameLetters) == "" && name != "" {
		body = name // the name in the patch itself does not matter
	} else if target != nil {
		k.anything = true
	}
	k.patches = append(k.patches, body)
}

// deciding are words without which a patch changes nothing that decides a value or is judged.
var deciding = []string{"containers", "env", "resources", "runtimeClassName", variableName, "metrics", "triggers", "Autoscaler"}

// nameLetters are those of names, without those of patterns.
const nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"

// overlays are the kustomizations that take a file, or what another makes of it, by the path of
// the file.
type overlays map[string][]kustomization

func (c *Checker) overlays() overlays {
	byDir := map[string]kustomization{}
	for _, k := range c.kustomized {
		byDir[k.dir] = k
	}
	sorting.Stable(c.kustomized, func(a, b kustomization) int { return strings.Compare(a.dir, b.dir) })
	found := overlays{}
	for _, k := range c.kustomized {
		if !k.anything && len(k.patches) == 0 {
			continue
		}
		seen := map[string]bool{}
		for next := slices.Clone(k.resources); len(next) > 0; next = next[1:] {
			at := next[0]
			if seen[at] {
				continue
			}
			seen[at] = true
			if below, ok := byDir[at]; ok {
				next = append(next, below.resources...)
			} else {
				found[at] = append(found[at], k)
			}
		}
	}
	return found
}

// of is the first folder whose kustomization may patch an object; "": there is none.
func (all overlays) of(o *object) string {
	for _, k := range all[o.path] {
		if k.anything || slices.ContainsFunc(k.patches, func(text string) bool { return strings.Contains(text, o.name) }) {
			return k.dir
		}
	}
	return ""
}

// rendering is the command that checks what a folder renders.
func rendering(dir string) string {
	return "kustomize build " + phrase.ShellWord(dir) + " | procfit check -"
}

// ofAbsence are the rules that judge what a container does not set: a limit, or where the
// variable is not set, a limit that the runtime is to follow.
var ofAbsence = []string{"PF017", "PF018"}

// patched makes infos of findings that a patch may have fixed, and says how to see it.
func (j *judged) patched(by string) {
	for i := range j.findings {
		f := &j.findings[i]
		if !slices.Contains(ofAbsence, f.Rule) && (j.container.unit.env.state != facts.Absent || !slices.Contains(ofRuntime, f.Rule)) {
			continue
		}
		f.Severity = rule.Info
		f.Message += "; " + by + " patches this object and may change that"
		f.Fix = "check the rendered manifests: " + rendering(by)
	}
}

// isKustomization tells it by the file's name.
func isKustomization(f *check.File) bool { return slices.Contains(kustomizations, f.Base()) }
