package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

// reader follows aliases, so that a small document may be endless: every node costs.
type reader struct{ left int }

const mostNodes = 2_000_000

var errExpands = errors.New("its aliases expand endlessly; replace them with their values")

// deepest is how far aliases may lead to aliases, and merges to merges.
const deepest = 32

func (r *reader) real(n *yaml.Node) *yaml.Node {
	for depth := 0; n != nil && n.Kind == yaml.AliasNode; depth++ {
		if depth == deepest {
			return nil
		}
		n = n.Alias
	}
	r.left--
	return n
}

type entry struct{ key, value *yaml.Node }

// get is the value of a key, also of one that is merged in. Of a key that appears twice the last is
// used, as in the parsers of Kubernetes.
func (r *reader) get(n *yaml.Node, key string) *yaml.Node {
	return r.real(r.entry(n, key, 0).value)
}

func (r *reader) entry(n *yaml.Node, key string, depth int) (found entry) {
	n = r.real(n)
	if n == nil || n.Kind != yaml.MappingNode || depth > deepest || r.left < 0 {
		return entry{}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		r.left--
		if k := n.Content[i]; k.Kind == yaml.ScalarNode && k.Value == key && k.Tag != "!!merge" {
			found = entry{k, n.Content[i+1]}
		}
	}
	if found.key == nil {
		for m := range r.merged(n) {
			if found = r.entry(m, key, depth+1); found.key != nil {
				break
			}
		}
	}
	return found
}

// merged are the mappings that << names: of several that have a key the first counts. They come one
// by one, since a list may be as long as the file, and only who looks at a node pays for it.
func (r *reader) merged(n *yaml.Node) iter.Seq[*yaml.Node] {
	return func(yield func(*yaml.Node) bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Tag != "!!merge" {
				continue
			}
			from := n.Content[i+1 : i+2]
			if m := r.real(from[0]); m != nil && m.Kind == yaml.SequenceNode {
				from = m.Content
			}
			for _, m := range from {
				if !yield(m) {
					return
				}
			}
		}
	}
}

// isMerged reports whether a mapping has a key by << alone: one of its own would replace all
// that is merged in.
func isMerged(n *yaml.Node, key string) bool {
	own, _ := child(n, key)
	r := reader{left: mostNodes}
	return own == nil && r.get(n, key) != nil
}

func (r *reader) at(n *yaml.Node, keys ...string) *yaml.Node {
	for _, k := range keys {
		n = r.get(n, k)
	}
	return n
}

func (r *reader) str(n *yaml.Node, keys ...string) string {
	n = r.at(n, keys...)
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

func (r *reader) items(n *yaml.Node, keys ...string) []*yaml.Node {
	n = r.real(r.at(n, keys...))
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	all := slices.Clone(n.Content)
	for i := range all {
		all[i] = r.real(all[i])
	}
	return slices.DeleteFunc(all, func(n *yaml.Node) bool { return n == nil })
}

// texts are the values of scalars.
func texts(list []*yaml.Node) []string {
	return phrase.Each(list, func(n *yaml.Node) string { return n.Value })
}

// entries are the keys of a mapping with their values, merged ones after its own.
func (r *reader) entries(n *yaml.Node) []entry { return r.allEntries(n, 0) }

func (r *reader) allEntries(n *yaml.Node, depth int) (all []entry) {
	n = r.real(n)
	if n == nil || n.Kind != yaml.MappingNode || depth > deepest || r.left < 0 {
		return nil
	}
	has := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		r.left--
		if k := n.Content[i]; k.Tag != "!!merge" {
			all, has[k.Value] = append(all, entry{k, r.real(n.Content[i+1])}), true
		}
	}
	for m := range r.merged(n) {
		for _, e := range r.allEntries(m, depth+1) {
			if !has[e.key.Value] {
				all, has[e.key.Value] = append(all, e), true
			}
		}
	}
	return slices.DeleteFunc(all, func(e entry) bool { return e.value == nil })
}

func (c *Checker) all() []*unit {
	return slices.Concat(c.units, phrase.Each(c.store.containers, func(k *container) *unit { return &k.unit }))
}

func (c *Checker) findPrograms(to check.Sink) {
	units := c.all()
	c.named(units, to)
	images := map[string]bool{}
	for _, u := range units {
		if !u.written.Image { // a Dockerfile starts nothing
			images[u.image] = true
		}
	}
	for _, u := range units {
		use := u.use()
		use.Only = len(images) == 1
		if u.unjudged = c.leaves(u, use); u.unjudged != "" {
			u.isGo = false
			continue
		}
		if u.expected == nil && u.expectedWrong == "" {
			u.expected = c.o.Programs.Expected(use)
			u.isGo = u.isGo || u.expected != nil
		}
		known, among := c.o.Programs.For(use)
		if u.program.Known() {
			// An annotation names only the version; the rest is what its program is known to be.
			if strings.HasPrefix(u.program.From, "annotation ") && known.Known() && !known.Elsewhere && !c.o.Programs.ForAll(known) {
				known.GoVersion = u.program.GoVersion
				u.program = known
			}
			continue
		}
		u.program = known
		u.beside = known.Known() && !c.o.Programs.ForAll(known)
		if m := toolchain().FindStringSubmatch(u.image); m != nil && m[2] != "" && !known.Known() {
			u.program = check.Program{GoVersion: "go" + m[2], From: "image " + m[1]} // which runs the Go in it
			u.isGo, u.beside = true, true
		}
		if len(among) > 0 {
			to.Note(check.Note{Path: u.at.Path, Message: fmt.Sprintf(
				"%s: its program may be %s, so its Go version is not known; set it with --go, or with the annotation procfit/go",
				phrase.Join(", container ", u.at.Object, u.at.Container), strings.Join(among, " or "),
			)})
		}
	}
	for _, u := range units {
		c.imageSets(u)
		c.sourceSets(u, len(images) == 1)
	}
	for _, u := range c.units {
		u.inherit()
	}
}

func (u *unit) use() check.Use {
	return check.Use{Image: u.image, Name: u.name(), Command: u.command, Go: u.isGo, Path: u.at.Path}
}

// sourceSets asks the source of a program if no more than its go.mod is known.
func (c *Checker) sourceSets(u *unit, only bool) {
	file, named, use := u.module, true, u.use()
	use.Only = only && !u.written.Image
	switch {
	case c.o.Sets == nil || u.unjudged != "":
		return
	case path.Base(u.program.From) == "go.mod":
		file = u.program.From
	case file == "" && !u.beside: // the user names the Go version, or nobody does
		file, named = c.o.Programs.ModuleOf(use)
	}
	if file == "" {
		return
	}
	if u.source = c.o.Sets(file, use); !named && u.source.Words != "" {
		u.source.Words = "if it is built from " + file + ", " + u.source.Words
	}
	u.follows = named && u.source.Always && !u.program.Elsewhere
	if u.program.Required && u.source.Without {
		u.program.Automaxprocs, u.program.Required = "", false
	}
	switch {
	case named && !u.source.Differ:
		u.program.DefaultGODEBUG = phrase.Join(",", u.program.DefaultGODEBUG, u.source.Debug)
	case u.source.Differ, u.source.Debug != "":
		u.doubt(counts, "//go:debug lines of a program of %s decide otherwise", file)
	}
}

// imageSets doubts a program of a go.mod with a Dockerfile that sets the value: nobody sees whether
// it builds it.
func (c *Checker) imageSets(u *unit) {
	if u.written.Image || u.program.Elsewhere || path.Base(u.program.From) != "go.mod" {
		return
	}
	var from []string
	for _, image := range c.units {
		if v := image.env; image.written.Image && v.isSet() && path.Dir(image.at.Path) == path.Dir(u.program.From) && !image.ignores(u.program.Automaxprocs) {
			from = append(from, image.at.Path+", which sets "+strings.TrimSuffix("GOMAXPROCS="+v.value, "="))
		}
	}
	slices.Sort(from)
	for _, file := range from {
		u.doubt(sets, "its image is built from %s", file)
	}
}

func (u *unit) ignores(automaxprocs string) bool {
	_, byEnv := rule.NewSubject(u.observed(0)).EnvProcs()
	return u.env.state == facts.Known && !byEnv && automaxprocs == ""
}

// leaves is why no rule judges a unit. Annotations, --container and known programs go before a list
// of images.
func (c *Checker) leaves(u *unit, use check.Use) string {
	named := slices.Contains(c.o.Containers, u.name())
	if len(c.o.Containers) > 0 && u.name() != "" && !named {
		return "--container names another"
	}
	use.Go, use.Only = false, false
	known, _ := c.o.Programs.For(use)
	isGo := named || u.program.Known() || u.expected != nil || known.Known() && !c.o.Programs.ForAll(known)
	name := use.Other()
	return phrase.If(name != "" && !isGo, "the image "+name+" is known not to run Go", "")
}

func (c *Checker) named(units []*unit, to check.Sink) {
	for _, name := range c.o.Containers {
		if !slices.ContainsFunc(units, func(u *unit) bool { return u.name() == name }) {
			to.Problem(check.Problem{Path: ".", Message: fmt.Sprintf("--container %s: no container or service has this name", name)})
		}
	}
}

func (u *unit) name() string {
	return phrase.If(u.written.Image, "", cmp.Or(u.at.Container, strings.TrimSuffix(strings.TrimPrefix(u.at.Object, "service "), ".service")))
}

func (u *unit) inherit() {
	if u.unjudged != "" || u.unset {
		return
	}
	of := func(v *variable, value string) {
		if !v.isSet() && value != "" {
			*v = variable{state: facts.Known, value: value, source: "ENV of " + u.program.From}
			u.isGo = true
		}
	}
	unset := !u.env.isSet()
	of(&u.env, u.program.GOMAXPROCS)
	for i := range u.open {
		if unset {
			u.open[i].over = u.env // whatever sets it replaces what the image has
		}
	}
	of(&u.godebug, u.program.GODEBUG)
}
