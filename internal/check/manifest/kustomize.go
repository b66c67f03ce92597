package manifest

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	open      bool     // it names what is elsewhere, or a program that makes objects
}

// kustomizations are names of the file (kubectl.docs.kubernetes.io/references/kustomize).
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// patching are keys by which one changes more than names, labels and images, in objects that
// only Kustomize finds.
var patching = []string{"components", "transformers", "replacements"}

// making are keys by which one runs programs or charts, or takes what these make.
var making = []string{"generators", "transformers", "validators", "helmCharts", "helmChartInflationGenerator"}

// remote reports whether a file or a folder is named by an address: Kustomize would fetch it.
func remote(n *yaml.Node, depth int) bool {
	if n == nil || depth > deepestTree {
		return false
	}
	if n.Kind == yaml.ScalarNode {
		return strings.Contains(n.Value, "://") && !strings.Contains(n.Value, "\n") // else it is the text of a patch
	}
	return slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return remote(c, depth+1) })
}

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
	k.open = t.path == check.Stdin || slices.ContainsFunc(making, func(key string) bool { return r.get(root, key) != nil }) || remote(root, 0)
	for _, key := range []string{"resources", "bases", "components"} {
		for _, item := range r.items(root, key) {
			_, err := t.reads.Resolve(filepath.Join(filepath.FromSlash(k.dir), filepath.FromSlash(item.Value)))
			k.open = k.open || err != nil
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
		k.open = k.open || err != nil
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
	if dirs := all.all(o); len(dirs) > 0 {
		return dirs[0]
	}
	return ""
}

// render replaces containers that overlays patch by what each overlay makes of them. An overlay that
// cannot be rendered leaves them open: it names what is not among the files, or there is no command.
func (c *Checker) render(ctx context.Context, to check.Sink) {
	if c.o.Render == nil || len(c.kustomized) == 0 {
		return
	}
	byDir := map[string]kustomization{}
	for _, k := range c.kustomized {
		byDir[k.dir] = k
	}
	ctx, end := context.WithTimeout(ctx, mostRendering)
	defer end()
	overlays, made := c.overlays(), map[string]*store{}
	var kept, added []*container
	for _, k := range c.store.containers {
		var of []*container
		by := overlays.all(k.object)
		for _, dir := range by {
			own, tried := made[dir]
			if !tried && closed(byDir, dir, 0) {
				own = c.renders(ctx, dir, to)
			}
			if made[dir] = own; own == nil {
				of = nil
				break
			}
			of = append(of, own.rendered(k, dir)...)
		}
		if len(of) > 0 {
			added = append(added, of...)
			continue
		}
		kept = append(kept, k)
	}
	c.store.containers = append(kept, added...)
	for _, own := range made {
		if own != nil {
			own.containers, own.unread, own.autoscalers, own.resizers = nil, nil, nil, nil // those of files are judged
			c.store.take(own)
		}
	}
}

// mostRendering is how long all overlays together may take: kubectl takes most of a second for one.
const mostRendering = 20 * time.Second

// closed reports whether all that a folder renders is among the files.
func closed(byDir map[string]kustomization, dir string, depth int) bool {
	k, known := byDir[dir]
	if !known || k.open || depth > deepest {
		return false
	}
	return !slices.ContainsFunc(k.resources, func(at string) bool {
		return path.Ext(at) == "" && !closed(byDir, at, depth+1)
	})
}

// renders are the objects that a folder renders; nil: it cannot be rendered.
func (c *Checker) renders(ctx context.Context, dir string, to check.Sink) *store {
	b, err := c.o.Render(ctx, filepath.FromSlash(dir))
	if ctx.Err() != nil {
		err = errors.New("rendering takes longer than 20 s; " + rendering(dir) + " checks it alone")
	}
	if err != nil {
		to.Note(check.Note{Path: dir, Message: "cannot be rendered, so that what it patches is open: " + phrase.Plain(err)})
		return nil
	}
	if b == nil {
		return nil
	}
	t, own := parse(path.Join(dir, "(rendered)"), b, nowhere{}), &store{}
	if t.bad {
		return nil
	}
	for i := range t.docs {
		p := pods{text: t, doc: i, to: nowhere{}, into: own}
		if p.document() != nil {
			return nil
		}
	}
	return own
}

// rendered are what became of a container, at its place in the file: names of objects may have got
// something in front or behind.
func (s *store) rendered(of *container, dir string) (all []*container) {
	for _, k := range s.containers {
		if k.object.kind != of.object.kind || k.at.Container != of.at.Container || !strings.Contains(k.object.name, of.object.name) {
			continue
		}
		k.at, k.by = of.at, dir
		for name, f := range k.fields {
			f.line, f.file = 0, ""
			k.fields[name] = f
		}
		for name, v := range k.started {
			v.line, v.file = 0, ""
			k.started[name] = v
		}
		for i := range k.envFrom {
			k.envFrom[i].line = 0
		}
		k.argvLine = 0
		all = append(all, k)
	}
	return all
}

// all are the folders whose kustomizations may patch an object.
func (all overlays) all(o *object) (dirs []string) {
	for _, k := range all[o.path] {
		if k.anything || slices.ContainsFunc(k.patches, func(text string) bool { return strings.Contains(text, o.name) }) {
			dirs = append(dirs, k.dir)
		}
	}
	return dirs
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
