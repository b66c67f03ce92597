// Package manifest is the Checker of files that say how a program is to run: objects of Kubernetes,
// compose files, Dockerfiles, systemd units, task definitions of ECS and jobs of Nomad in JSON.
//
// # Model
//
// A file gives a unit for each container or service, with its CPU limit, what sets its GOMAXPROCS,
// and what is known of its program. A unit becomes a rule.Subject on any machine, or on one of
// --cpus. What it draws from another object is resolved when all files are read.
//
// Objects are read by shape: whatever has an apiVersion and a kind, and below it a list of
// containers, has pods. That finds custom resources, keeps lines and columns, and needs no types of
// 30 MB.
//
// A container counts as one of Go if a variable of the Go runtime is set, or the user names a
// version, by --go or by the annotation procfit/go. Without a version, only what holds for every
// version is found, but for what is marked as of Go 1.25.
//
// A fix is an edit of the tree and the splices that make it in the bytes: it is offered only if the
// spliced text, parsed again, is the edited tree.
//
// # Limits
//
//   - Values of Secrets and fields of the pod are not known, nor are the exclusive CPUs that the
//     static CPU manager gives to a pod of whole CPUs.
//   - Of several ConfigMaps of one name the one in the same file counts, else the one in the same
//     folder, else the only one. A LimitRange counts for its namespace in its folder.
//   - Nomad's HCL is not read; `nomad job inspect` and `nomad job run -output` give JSON.
package manifest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/program/expected"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Options are what manifests alone do not tell.
type Options struct {
	NodeCPUs int // of the machines that they are for; 0: not known
	// Node is that on which the objects of a file run in a cluster, where one object is in several files if its
	// pods differ: its CPUs, and the amount of them that it has for pods; 0 and "": not known. nil: it is no cluster.
	Node     func(file string) (cpus int, pods string)
	Programs *check.Programs
	// Sets is how the source of a program of a go.mod sets GOMAXPROCS; nil: no source is read.
	Sets       func(goMod string, u check.Use) check.MaySet
	Changes    bool         // findings are to have their Change, for which files are read again
	Stdin      bool         // what comes on standard input is to be changed, although it was rendered
	Tree       *folder.Tree // what may be read besides the files; nil: everything
	Containers []string     // the only ones to be judged; none: all
	Strict     bool         // a value that is open is a finding
}

// Checker is the check.Checker of manifests. One serves one run.
type Checker struct {
	o         Options
	large     sync.Mutex // a large file may take much memory, several at once too much
	store     *store
	charts    sync.Map // by folder: whether it is a chart's
	unitFiles sync.Map // by file: its settings, nil if it cannot be read
	folders   sync.Map // by folder: its entries
	changed   sync.Map // by the unit that a folder of drop-ins is named after: whether there is one

	mu      sync.Mutex
	ignores map[string][]check.Ignore // by file
	units   []*unit                   // of other kinds than Kubernetes'

	given map[string]*check.File // the files that were checked
	mains map[string]*main

	users map[rule.Place]int // of a line that sets the variable: the units that have it from there

	kustomized []*kustomization
	scripts    []script
	scriptsOf  map[string][]*script // when all files are read
}

func New(o Options) *Checker {
	o.Programs = cmp.Or(o.Programs, &check.Programs{})
	return &Checker{
		o: o, store: newStore(), ignores: map[string][]check.Ignore{}, given: map[string]*check.File{}, mains: map[string]*main{}, users: map[rule.Place]int{},
	}
}

// main is a file that others change, read for one of these: it may not be among the files itself.
type main struct {
	text  []byte
	units []*unit
	err   error
}

func (c *Checker) readMain(file string, most int64, units func([]byte) ([]*unit, error)) {
	c.mu.Lock()
	_, done := c.mains[file]
	done = done || c.given[file] != nil
	m := &main{}
	if !done {
		c.mains[file] = m
	}
	c.mu.Unlock()
	if done {
		return
	}
	if m.text, m.err = c.o.Tree.Read(filepath.FromSlash(file), most); m.err == nil {
		m.units, m.err = units(m.text)
	}
}

func (c *Checker) adopt(to check.Sink) {
	for _, file := range slices.Sorted(maps.Keys(c.mains)) {
		m := c.mains[file]
		switch {
		case c.given[file] != nil:
		case m.err != nil:
			to.Problem(check.Problem{Path: file, Message: "is not read: " + phrase.Plain(m.err)})
		default:
			c.keep(m.units)
			ignores(file, m.text, m.units, remembering{to, c})
		}
	}
}

// remembering keeps ignores until what they cover is judged: a fix must not undo what a user has
// suppressed.
type remembering struct {
	check.Sink
	c *Checker
}

func (r remembering) Ignore(i check.Ignore) {
	r.c.mu.Lock()
	r.c.ignores[i.Place.Path] = append(r.c.ignores[i.Place.Path], i)
	r.c.mu.Unlock()
}

type kind int

const (
	none kind = iota
	yamlFile
	jsonFile
	dockerfile
	systemdUnit
	shellScript
	expectedFile
)

var byExtension = map[string]kind{
	".yaml": yamlFile, ".yml": yamlFile, ".json": jsonFile, ".service": systemdUnit, ".container": systemdUnit,
	".dockerfile": dockerfile, ".containerfile": dockerfile,
}

func kindOf(f *check.File) kind {
	base := f.Base()
	_, dropIn := dropInOf(f.Path)
	switch k := byExtension[strings.ToLower(path.Ext(base))]; {
	case f.Path == check.Stdin && bytes.IndexByte(f.Head(), 0) >= 0: // a program or an archive
		return none
	case f.Path == check.Stdin, isKustomization(f):
		return yamlFile
	case strings.HasSuffix(base, expected.Suffix):
		return expectedFile
	case k == systemdUnit && dockerfileName().MatchString(base): // of a component that is called service
		return dockerfile
	case k != none:
		return k
	case dropIn, strings.HasSuffix(base, ".service.j2"): // a template of Ansible
		return systemdUnit
	case dockerfileName().MatchString(base) && !notDockerfile().MatchString(base):
		return dockerfile
	case isScript(f):
		return shellScript
	}
	return none
}

// Dockerfile, Dockerfile.dev, Containerfile-dev, Dockerfile_amd64; and what is made for or about
// them.
var (
	dockerfileName = pattern.Of(`^(?:Docker|Container)file(?:[._-]|$)`)
	notDockerfile  = pattern.Of(`ignore$|[_-].*\.(?:go|md|txt|sh|py|js|ts|rb|rs|html)$`)
)

func (c *Checker) Wants(f *check.File) bool { return kindOf(f) != none }

// jsonMarkers are words without which JSON is no manifest; jsonClosely are for two that other JSON
// has: versions of Azure are dates.
var (
	jsonMarkers = [][]byte{[]byte(`"containers"`), []byte(`"containerDefinitions"`), []byte(`"TaskGroups"`), []byte(`"services"`)}
	jsonClosely = map[string]func() *regexp.Regexp{
		`"apiVersion"`: pattern.Of(`"apiVersion"\s*:\s*"(?:[a-z0-9.-]+/)?v[0-9]`),
		`"GOMAXPROCS"`: pattern.Of(`"name"\s*:\s*"GOMAXPROCS"`),
	}
)

func mayBeManifest(b []byte) bool {
	for word, is := range jsonClosely {
		if bytes.Contains(b, []byte(word)) && is().Match(b) {
			return true
		}
	}
	return slices.ContainsFunc(jsonMarkers, func(m []byte) bool { return bytes.Contains(b, m) })
}

func (c *Checker) File(_ context.Context, f *check.File, to check.Sink) error {
	to = remembering{to, c}
	c.mu.Lock()
	c.given[f.Path] = &check.File{Path: f.Path}
	if c.o.Changes {
		c.given[f.Path] = f
	}
	c.mu.Unlock()
	k := kindOf(f)
	if chart := c.chartOf(f.Path); chart != "" {
		return c.unrendered(chart, "", to)
	}
	if k == shellScript {
		return c.script(f)
	}
	b, err := f.Read(k.most())
	if err != nil {
		return err
	}
	var units []*unit
	switch k {
	case expectedFile:
		return c.expect(f.Path, b)
	case dockerfile:
		units = c.dockerfile(f.Path, b, to)
		c.keep(units)
	case systemdUnit:
		units = c.systemd(f.Path, b)
		c.keep(units)
	default:
		if k == jsonFile && !f.Named && !mayBeManifest(b) {
			return check.ErrOther
		}
		units, err = c.documents(f, b, to)
	}
	if errors.Is(err, check.ErrOther) && f.Named {
		return c.ofChart(f, to)
	}
	if err == nil && bytes.Contains(b, []byte(check.IgnoreMarker)) { // else nothing was looked for
		ignores(f.Path, b, units, to)
	}
	return err
}

// expect takes a file of an expected value, for the program that it names or is named after.
func (c *Checker) expect(file string, b []byte) error {
	e, err := expected.Parse(b)
	if err != nil {
		return err
	}
	e.Program = cmp.Or(e.Program, strings.TrimSuffix(path.Base(file), expected.Suffix))
	c.o.Programs.Expect(file, e)
	return nil
}

// largeFile is more bytes than almost any file of manifests has.
const largeFile = 1 << 20

// documents reads YAML and JSON. What it finds is judged when all files are read.
func (c *Checker) documents(f *check.File, b []byte, to check.Sink) ([]*unit, error) {
	if len(b) > largeFile {
		c.large.Lock()
		defer c.large.Unlock()
	}
	t := parse(f.Path, b)
	t.reads, t.composeFiles = c.o.Tree, map[string][]layer{}
	if chart := c.chartAround(f.Path); t.template && chart != "" && !f.Named {
		return nil, c.unrendered(chart, "", to)
	}
	known := len(t.problems) > 0 // it may be a manifest
	for _, p := range t.problems {
		to.Problem(p)
	}
	ytt := bytes.Contains(b, []byte("#@ load("))
	var units []*unit
	for i := range t.docs {
		r := &reader{left: mostNodes}
		var found []*unit
		switch root := t.docs[i].root; {
		case isKustomization(f):
			known = true
			c.kustomization(t, i)
			continue
		case r.get(root, "containerDefinitions") != nil || r.get(r.get(root, "taskDefinition"), "containerDefinitions") != nil:
			found = c.ecs(t, i)
		case r.get(r.get(root, "Job"), "TaskGroups") != nil || r.get(root, "TaskGroups") != nil:
			found = c.nomad(t, i)
		case isCompose(r, f, root):
			found = c.compose(t, i, to)
		default:
			own := newStore()
			p := pods{file: f, text: t, doc: i, to: to, into: own, ytt: ytt}
			err := p.document()
			c.applied(t, i)
			known = known || p.found || err != nil
			if err != nil {
				to.Problem(check.Problem{Path: f.Path, Line: t.docs[i].lines + 1, Message: err.Error()})
				continue
			}
			c.store.take(own)
			for _, k := range own.containers {
				k.unit.env, k.godebug = k.fields["GOMAXPROCS"].variable, k.fields["GODEBUG"].variable // for ignores; they are resolved later
				units = append(units, &k.unit)
			}
			continue
		}
		known = true
		c.keep(found)
		units = append(units, found...)
	}
	if !known {
		return nil, check.ErrOther
	}
	for _, p := range t.again {
		to.Problem(p)
	}
	return units, nil
}

func (c *Checker) keep(units []*unit) {
	for _, u := range units {
		u.inCommand()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.units = append(c.units, units...)
}

func (c *Checker) Finish(ctx context.Context, to check.Sink) error {
	defer c.passIgnores(to)
	c.adopt(to)
	sorting.Stable(c.units, func(a, b *unit) int { return cmp.Compare(a.at.Path, b.at.Path) })
	c.store.inOrder()
	c.units = nearest(c.units)
	c.findPrograms(to)
	c.scriptsOf = c.byName()
	together := map[any][]*unit{}
	for _, u := range c.units {
		c.inScripts(u)
		c.users[u.settingLine()]++
		key := [2]string{u.at.Path, u.at.Object}
		if u.group != "" {
			key = [2]string{u.group}
		}
		together[key] = append(together[key], u)
	}
	c.gather(together)
	for _, u := range c.units {
		for _, f := range c.judge(u, to) {
			to.Finding(c.inLine(u, f))
		}
	}
	byFile := map[*check.File][]*container{}
	overlays := c.overlays()
	if err := c.resolve(ctx, overlays); err != nil {
		return err
	}
	for _, k := range c.store.containers {
		k.found = c.judge(&k.unit, to)
		if k.partial && !k.unit.env.isSet() { // what it patches may set the variable
			k.found = slices.DeleteFunc(k.found, func(f check.Finding) bool { return slices.Contains(ofRuntime, f.Rule) })
			c.unsure(k.unit.places(), func(id string) bool { return slices.Contains(ofRuntime, id) })
		}
		k.patched()
		c.advise(k)
		if k.remedy != nil && c.o.Changes && c.changeable(k.object) {
			byFile[k.object.file] = append(byFile[k.object.file], k)
		}
	}
	for _, v := range c.store.unread {
		to.Value(v)
		c.strict(v, to)
	}
	c.unrenderedOverlays(to)
	c.reached(overlays, to)
	c.resized(overlays)
	c.judgeScripts(remembering{to, c})
	for f, list := range byFile {
		addChanges(f, list)
	}
	for _, k := range c.store.containers {
		for _, f := range k.found {
			to.Finding(f)
		}
	}
	return nil
}

// nearest leaves out services that another file includes and merges with more, and doubles.
func nearest(units []*unit) (kept []*unit) {
	most := map[rule.Place]*unit{}
	for _, u := range units {
		for _, at := range u.covers {
			if other := most[at]; other == nil || len(u.covers) > len(other.covers) {
				most[at] = u
			}
		}
	}
	for _, u := range units {
		if !slices.ContainsFunc(u.covers, func(at rule.Place) bool { return most[at] != u }) {
			kept = append(kept, u)
		}
	}
	return kept
}

func (c *Checker) resolve(ctx context.Context, overlays overlays) error {
	pods, patches := map[any][]*unit{}, map[string]bool{}
	for _, by := range c.kustomized {
		for _, file := range by.files {
			patches[file] = true
		}
	}
	for _, k := range c.store.containers {
		if err := ctx.Err(); err != nil {
			return err
		}
		if patches[k.object.path] { // it may change the image, too
			k.partial = true
			k.incomplete()
		}
		c.store.resolve(k, c.nodePods(&k.unit))
		k.overlays = overlays.of(k.object, k.draws()...)
		k.overlaid()
		k.inherit()
		c.inScripts(&k.unit)
		if k.stays {
			pods[k.object] = append(pods[k.object], &k.unit)
		}
	}
	c.gather(pods)
	return nil
}

func (c *Checker) chartOf(file string) string {
	for dir := path.Dir(file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if path.Base(dir) != "templates" {
			continue
		}
		if chart := path.Dir(dir); c.isChart(chart) {
			return c.renders(chart)
		}
	}
	return ""
}

// chartAround is the chart that a file is in, in any folder of it.
func (c *Checker) chartAround(file string) string {
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if c.isChart(dir) {
			return c.renders(dir)
		}
		if dir == path.Dir(dir) || path.Base(dir) == ".." {
			return ""
		}
	}
}

// renders is the chart that renders a chart: those below charts are part of another.
func (c *Checker) renders(chart string) string {
	for path.Base(path.Dir(chart)) == "charts" && c.isChart(path.Dir(path.Dir(chart))) {
		chart = path.Dir(path.Dir(chart))
	}
	return chart
}

func (c *Checker) unrendered(chart, values string, to check.Sink) error {
	command := "helm template " + phrase.ShellWord(chart) + phrase.If(values != "", " -f "+phrase.ShellWord(values), "")
	to.Note(check.Note{Path: chart, Message: "this is a Helm chart, whose templates must be rendered first: " + command + " | procfit check -"})
	return check.ErrSkipped
}

// ofChart is a named file without a manifest, which may hold the values of a Helm chart.
func (c *Checker) ofChart(f *check.File, to check.Sink) error {
	chart, name := path.Dir(f.Path), path.Base(f.Path)
	values := ""
	if strings.HasPrefix(name, "values") && f.Size > 0 {
		values = f.Path
	}
	switch {
	case c.isChart(chart) && name == "values.yaml":
		return c.unrendered(c.renders(chart), "", to)
	case c.isChart(chart):
		return c.unrendered(c.renders(chart), values, to)
	case values != "":
		to.Note(check.Note{Path: f.Path, Message: check.NoManifest + "; if it holds the values of a Helm chart: helm template CHART -f " + phrase.ShellWord(values) + " | procfit check -"})
		return check.ErrSkipped
	}
	return check.ErrOther
}

func (c *Checker) isChart(dir string) bool {
	return memo(&c.charts, dir, func() bool {
		_, err := os.Stat(filepath.Join(filepath.FromSlash(dir), "Chart.yaml"))
		return err == nil
	})
}

func memo[V any](of *sync.Map, key string, find func() V) V {
	known, ok := of.Load(key)
	if !ok {
		known, _ = of.LoadOrStore(key, find())
	}
	return known.(V)
}
