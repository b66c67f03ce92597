package manifest

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

type kustomization struct {
	path, dir string
	resources []string // files and folders, from where paths are shown
	patches   []patch
	files     []string  // of patches, from where paths are shown
	configs   []*config // ConfigMaps of others that it changes
	anything  bool      // it may change any object
	elsewhere []string  // where it takes objects from that are not files of the tree, in words
	charts    bool      // some of them are Helm's, which kubectl renders only with --enable-helm
	read      int64     // bytes of the files of patches

	folder  string // of an object that applies this folder of its repository; "": it is a file of Kustomize
	renders string // the command that renders what that applies
}

// kustomizations are names of the file (kubectl.docs.kubernetes.io/references/kustomize).
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// patching are keys by which one may change anything in objects that only Kustomize finds.
var patching = []string{"components", "transformers", "replacements", "vars"}

type patch struct {
	target string // text that has the name of what it changes; "": it may be any object
	text   string
}

// remote are resources that Kustomize fetches: addresses, and those of its hosts without a scheme.
var remote = pattern.Of(`://|^git@|^(?:github\.com|gitlab\.com|bitbucket\.org)[/:]|\?ref=|\.git(?:/|\?|$)`)

// kustomization reads a document of one. A ConfigMap that it generates is one of its folder.
func (c *Checker) kustomization(t text, doc int) {
	r, root := &reader{left: mostNodes}, t.docs[doc].root
	k := &kustomization{path: t.path, dir: path.Dir(t.path)}
	for _, key := range []string{"resources", "bases"} {
		for _, item := range r.items(root, key) {
			if remote().MatchString(item.Value) {
				k.elsewhere = append(k.elsewhere, phrase.Clip(item.Value, 60))
			} else {
				k.resources = append(k.resources, path.Join(k.dir, item.Value))
			}
		}
	}
	k.charts = len(r.items(root, "helmCharts")) > 0 || len(r.items(root, "helmChartInflationGenerator")) > 0
	if k.charts {
		k.elsewhere = append(k.elsewhere, "a Helm chart")
	}
	if len(r.items(root, "generators")) > 0 {
		k.elsewhere = append(k.elsewhere, "a generator")
	}
	k.anything = slices.ContainsFunc(patching, func(key string) bool { return len(r.items(root, key)) > 0 })
	for _, key := range []string{"patches", "patchesStrategicMerge", "patchesJson6902"} {
		for _, item := range r.items(root, key) {
			k.patch(r, t, item)
		}
	}
	own := newStore()
	for _, item := range r.items(root, "configMapGenerator") {
		name, data := r.str(item, "name"), map[string]string{}
		for _, literal := range r.items(item, "literals") {
			if name, value, ok := strings.Cut(literal.Value, "="); ok && len(value) <= longestData {
				data[name] = unquote(value)
			}
		}
		behavior, files := r.str(item, "behavior"), r.get(item, "env") != nil || r.get(item, "envs") != nil
		of := object{path: t.path, kind: "ConfigMap", name: name, namespace: r.str(item, "namespace")}
		own.configs[name] = append(own.configs[name], &config{object: of, data: data, partial: files || behavior == "merge"})
		if behavior == "merge" || behavior == "replace" { // what is replaced loses its keys
			k.configs = append(k.configs, &config{object: of, data: data, partial: files || r.get(item, "files") != nil || behavior == "replace"})
		}
	}
	c.store.take(own)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kustomized = append(c.kustomized, k)
}

// applied takes an object of Flux or Argo CD that patches what is in a folder.
func (c *Checker) applied(t text, doc int) {
	r, root := &reader{left: mostNodes}, t.docs[doc].root
	group, _, _ := strings.Cut(r.str(root, "apiVersion"), "/")
	kind := group + " " + r.str(root, "kind")
	if kind == "argoproj.io ApplicationSet" {
		kind, root = "argoproj.io Application", r.at(root, "spec", "template")
	}
	spec, name := r.get(root, "spec"), phrase.ShellWord(r.str(root, "metadata", "name"))
	add := func(folder string, from *yaml.Node, renders string) {
		k := &kustomization{path: t.path, dir: path.Dir(t.path), folder: path.Join(".", folder), renders: renders, anything: len(r.items(from, "components")) > 0}
		for _, item := range r.items(from, "patches") {
			k.patch(r, t, item)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.kustomized = append(c.kustomized, k)
	}
	switch kind {
	case "kustomize.toolkit.fluxcd.io Kustomization":
		folder := r.str(spec, "path")
		add(folder, spec, fmt.Sprintf("flux build kustomization %s --dry-run --path %s --kustomization-file %s", name, phrase.ShellWord(cmp.Or(folder, ".")), phrase.ShellWord(t.path)))
	case "argoproj.io Application":
		for _, from := range append(r.items(spec, "sources"), r.get(spec, "source")) {
			if own := r.get(from, "kustomize"); own != nil {
				add(r.str(from, "path"), own, "argocd app manifests "+name)
			}
		}
	}
}

// inside are the folders of kustomizations and the files in a folder, which is named from the root of a
// repository: the paths of the files may be from elsewhere.
func (c *Checker) inside(folder string, byDir map[string]*kustomization) (all []string) {
	is := func(dir string) bool { return folder == "." || strings.Contains("/"+dir+"/", "/"+folder+"/") }
	for dir := range byDir {
		if is(dir) {
			all = append(all, dir)
		}
	}
	for file := range c.given {
		if is(path.Dir(file)) {
			all = append(all, file)
		}
	}
	return all
}

func (k *kustomization) patch(r *reader, t text, item *yaml.Node) {
	body, file, target := r.str(item, "patch"), r.str(item, "path"), r.get(item, "target")
	if item.Kind == yaml.ScalarNode {
		body = item.Value
		if !strings.Contains(body, "\n") {
			body, file = "", item.Value
		}
	}
	if file != "" {
		k.files = append(k.files, path.Join(k.dir, file))
		b, err := t.reads.Read(filepath.Join(filepath.FromSlash(k.dir), filepath.FromSlash(file)), mostNamed-k.read)
		k.read += int64(len(b))
		k.anything = k.anything || err != nil || t.path == check.Stdin
		body = string(b)
	}
	about := body + r.str(target, "kind")
	if !slices.ContainsFunc(deciding, func(w string) bool { return strings.Contains(about, w) }) {
		return
	}
	p := patch{body, body}
	if target != nil { // the name in the patch itself does not matter
		if p.target = r.str(target, "name"); strings.Trim(p.target, nameLetters) != "" {
			p.target = ""
		}
	}
	k.patches = append(k.patches, p)
}

// deciding are words without which a patch changes nothing that decides a value or is judged.
var deciding = []string{"containers", "env", "resources", "runtimeClassName", variableName, "metrics", "triggers", "Autoscaler"}

// nameLetters are those of names, without those of patterns.
const nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"

// overlays are the kustomizations that take a file, directly or not, by its path.
type overlays map[string][]*kustomization

func (c *Checker) overlays() overlays {
	byDir := map[string]*kustomization{}
	for _, k := range c.kustomized {
		if k.folder == "" {
			byDir[k.dir] = k
		}
	}
	sorting.Stable(c.kustomized, func(a, b *kustomization) int {
		return cmp.Or(strings.Compare(a.dir, b.dir), strings.Compare(a.path, b.path))
	})
	found := overlays{}
	for _, k := range c.kustomized {
		if !k.anything && len(k.patches)+len(k.configs) == 0 {
			continue
		}
		seen, first := map[string]bool{}, slices.Clone(k.resources)
		if k.folder != "" {
			first = c.inside(k.folder, byDir)
		}
		for next := first; len(next) > 0; next = next[1:] {
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

func (all overlays) of(o *object, draws ...source) (by []*kustomization) {
	for _, k := range all[o.path] {
		if k.anything || len(k.about(o)) > 0 || slices.ContainsFunc(draws, k.changes) {
			by = append(by, k)
		}
	}
	return by
}

func (k *container) draws() []source {
	if f, own := k.fields[variableName]; own && f.config != nil {
		return []source{*f.config}
	} else if own {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(k.envFrom), func(s source) bool { return s.secret || !strings.HasPrefix(variableName, s.prefix) })
}

func (k *kustomization) changes(s source) bool {
	key := cmp.Or(s.key, strings.TrimPrefix(variableName, s.prefix))
	return slices.ContainsFunc(k.configs, func(c *config) bool {
		_, sets := c.data[key]
		return c.name == s.name && (sets || c.partial)
	})
}

func (k *kustomization) about(o *object) (patches []patch) {
	for _, p := range k.patches {
		if strings.Contains(p.target, o.name) || p.target == "" {
			patches = append(patches, p)
		}
	}
	return patches
}

// rendering is what checks the result: Kustomize may fetch and run things, and procfit does not. What is
// rendered does not show which Go version builds the programs of these units.
func (k *kustomization) rendering(of ...*unit) string {
	release, beside := "", []string{"-"}
	for _, u := range of {
		from, named := strings.CutPrefix(u.program.From, "--go ")
		file, _, _ := strings.Cut(from, " (") // an archive, with what is in it
		switch {
		case named, path.Base(from) == "go.mod" && !u.beside:
			release = "--go " + phrase.ShellWord(from) + " "
		case u.beside && !strings.HasPrefix(from, "image ") && !slices.Contains(beside, phrase.ShellWord(file)):
			beside = append(beside, phrase.ShellWord(file))
		}
	}
	render := cmp.Or(k.renders, "kubectl kustomize "+phrase.If(k.charts, "--enable-helm ", "")+phrase.ShellWord(k.dir))
	return render + " | procfit check " + release + strings.Join(beside, " ")
}

// overlaid makes the value of a container open that an overlay may patch. One whose patch has a
// variable of the Go runtime is a Go program, whatever the base says.
func (k *container) overlaid() {
	for _, b := range k.overlays {
		if !b.anything && len(b.about(k.object)) == 0 {
			k.doubt(replaces, "%s changes its ConfigMap", b.path)
			k.isGo = k.isGo || slices.ContainsFunc(b.configs, func(c *config) bool {
				return c.data[variableName] != "" && slices.ContainsFunc(k.draws(), func(s source) bool { return s.name == c.name })
			})
			continue
		}
		k.varies = k.varies || b.anything || slices.ContainsFunc(b.about(k.object), func(p patch) bool { return strings.Contains(p.text, "resources") })
		k.doubt(replaces, "%s patches it", b.path)
		for name := range runtimeVariables {
			k.isGo = k.isGo || slices.ContainsFunc(b.about(k.object), func(p patch) bool { return strings.Contains(p.text, name) })
		}
	}
}

func (c *Checker) unrenderedOverlays(to check.Sink) {
	patched := map[*kustomization][]*unit{}
	for _, of := range c.store.containers {
		for _, k := range of.overlays {
			patched[k] = append(patched[k], &of.unit)
		}
	}
	for _, k := range c.kustomized {
		var why []string
		if n := len(patched[k]); n > 0 {
			why = append(why, "may change "+phrase.Count(n, "container"))
		}
		if len(k.elsewhere) > 0 {
			why = append(why, "takes objects from "+phrase.And(k.elsewhere))
		}
		if len(why) > 0 {
			to.Note(check.Note{Path: k.path, Message: "is not rendered, and " + phrase.And(why) + ": " + k.rendering(patched[k]...)})
		}
	}
}

// ofAbsence are the rules that judge a missing limit.
var ofAbsence = []string{"PF017", "PF018"}

// patched makes infos of findings that a patch may have fixed.
func (k *container) patched() {
	for i := range k.found {
		f := &k.found[i]
		if len(k.overlays) == 0 || !slices.Contains(ofAbsence, f.Rule) && (k.unit.env.isSet() || !slices.Contains(ofRuntime, f.Rule)) {
			continue
		}
		f.Severity = rule.Info
		f.Fix = "check the rendered manifests: " + phrase.Or(phrase.Each(k.overlays, func(by *kustomization) string { return by.rendering(&k.unit) }))
	}
}

func isKustomization(f *check.File) bool { return slices.Contains(kustomizations, f.Base()) }
