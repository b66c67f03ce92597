package manifest

import (
	"path"
	"slices"
	"strings"

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
	patches   bool     // it may change what they set
}

// kustomizations are names of the file (kubectl.docs.kubernetes.io/references/kustomize).
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// patching are keys by which one changes more than names, labels and images.
var patching = []string{"patches", "patchesStrategicMerge", "patchesJson6902", "components", "transformers", "replacements"}

// kustomization reads a document of one.
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
	k.patches = slices.ContainsFunc(patching, func(key string) bool { return len(r.items(root, key)) > 0 })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kustomized = append(c.kustomized, k)
}

// patchedBy is the first folder whose kustomization takes a file, or what another makes of
// it, and patches; "" where none does.
func (c *Checker) patchedBy() map[string]string {
	byDir := map[string]kustomization{}
	for _, k := range c.kustomized {
		byDir[k.dir] = k
	}
	sorting.Stable(c.kustomized, func(a, b kustomization) int { return strings.Compare(a.dir, b.dir) })
	found := map[string]string{}
	for _, k := range c.kustomized {
		if !k.patches {
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
			} else if found[at] == "" {
				found[at] = k.dir
			}
		}
	}
	return found
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
		f.Fix = "check the rendered manifests: kustomize build " + phrase.ShellWord(by) + " | procfit check -"
	}
}

// isKustomization tells it by the file's name.
func isKustomization(f *check.File) bool { return slices.Contains(kustomizations, f.Base()) }
