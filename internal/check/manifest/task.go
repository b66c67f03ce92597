package manifest

import (
	"cmp"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

type layer struct {
	text text
	doc  document
	node *yaml.Node
}

// composed is a service of all its layers, the nearest last
// (docs.docker.com/reference/compose-file/merge).
type composed struct {
	*reader
	layers []layer
}

// isCompose tells a compose file by its services, which are a list in files of other tools; one of the usual names may
// only include others.
func isCompose(r *reader, f *check.File, root *yaml.Node) bool {
	named := slices.Contains(composeNames, f.Base()) || slices.Contains(overrideNames, f.Base())
	services := r.get(root, "services")
	return r.get(root, "apiVersion") == nil && (services != nil && (named || services.Kind == yaml.MappingNode) || named && r.get(root, "include") != nil)
}

type composer struct {
	*reader
	reads *folder.Tree
	files map[string][]layer // nil: one cannot be read
}

// compose reads the services (docs.docker.com/reference/compose-file), with the override file.
func (c *Checker) compose(t text, doc int, to check.Sink) []*unit {
	main, override, unused := composeFiles(t)
	if unused != "" {
		to.Note(check.Note{Path: t.path, Message: "docker compose does not use it: " + unused + " in its folder goes before it"})
	}
	if main != "" {
		file := path.Join(path.Dir(t.path), main)
		c.readMain(file, mostNamed, c.composeMain(file, t, to))
		return nil
	}
	r := composer{&reader{left: mostNodes}, c.o.Tree, t.composeFiles}
	files := c.included(r, t, t.docs[doc].root, map[string]bool{t.path: true}, to)
	own := len(files)
	files = append(files, layer{t, t.docs[doc], r.get(t.docs[doc].root, "services")})
	more, lost := r.file(t, override)
	files = append(files, more...)
	var units []*unit
	done := map[string]bool{}
	for i, f := range files {
		for _, e := range r.entries(f.node) {
			name := e.key.Value
			if e.value.Kind != yaml.MappingNode || done[name] {
				continue
			}
			done[name] = true
			u := &unit{}
			u.at = rule.Place{Path: f.text.path, Line: f.doc.line(e.key), Column: e.key.Column, Object: "service " + name}
			u.limits = []facts.Limit{limitOf(0, "the service")}
			s, removed := r.service(name, files, u)
			if removed || i < own && len(u.covers) == 1 { // as its file has it
				continue
			}
			if lost != "" {
				u.doubt(replaces, "%s, which docker compose adds, sets another", lost)
			}
			u.composed(s)
			units = append(units, u)
		}
	}
	return units
}

func (r composer) service(name string, files []layer, u *unit) (s composed, removed bool) {
	s.reader = r.reader
	for _, of := range files {
		e := r.entry(of.node, name, 0)
		n := r.real(e.value)
		switch {
		case n == nil:
			continue
		case n.Tag == "!reset":
			s.layers, removed = nil, true
			continue
		case n.Tag == "!override":
			s.layers = nil
		}
		if n.Kind == yaml.MappingNode {
			s.layers, removed = append(s.layers, r.extended(of, n, u)...), false
			u.covers = append(u.covers, rule.Place{Path: of.text.path, Line: of.doc.line(e.key), Object: u.at.Object})
		}
	}
	return s, removed
}

const mostIncluded = 64 // files, with those that they include

// included are the layers of included files, before a file's own
// (docs.docker.com/reference/compose-file/include). Services of files that are not checked are
// judged, too.
func (c *Checker) included(r composer, t text, root *yaml.Node, seen map[string]bool, to check.Sink) (all []layer) {
	for _, name := range r.paths(r.get(root, "include")) {
		file := path.Join(path.Dir(t.path), name)
		if seen[file] {
			continue
		}
		seen[file] = true
		layers, lost := r.file(t, name)
		if lost != "" || len(seen) > mostIncluded {
			to.Note(check.Note{Path: t.path, Message: "the file that it includes is not read: " + phrase.Clip(name, 60)})
			continue
		}
		for i, l := range layers {
			if i == 0 {
				c.readMain(l.text.path, mostNamed, c.composeMain(l.text.path, t, to))
			}
			all = append(append(all, c.included(r, l.text, l.doc.root, seen, to)...), l)
		}
	}
	return all
}

func (c *Checker) composeMain(file string, of text, to check.Sink) func([]byte) ([]*unit, error) {
	return func(b []byte) (all []*unit, err error) {
		m := parse(file, b)
		m.reads, m.composeFiles = of.reads, of.composeFiles
		if len(m.problems) > 0 {
			err = errors.New("it is not valid YAML")
		}
		for i := range m.docs {
			all = append(all, c.compose(m, i, to)...)
		}
		return all, err
	}
}

// The names that docker compose looks for, in its order: of each list it uses the first that is there.
var (
	composeNames  = []string{"compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"}
	overrideNames = []string{"compose.override.yml", "compose.override.yaml", "docker-compose.override.yml", "docker-compose.override.yaml"}
)

// composeFiles are, next to the file that docker compose uses, its override file, and next to that
// the file that it is for. unused: docker compose uses that one instead.
func composeFiles(t text) (main, override, unused string) {
	base := path.Base(t.path)
	isMain, isOverride := slices.Contains(composeNames, base), slices.Contains(overrideNames, base)
	if t.path == check.Stdin || !isMain && !isOverride {
		return "", "", ""
	}
	first := func(names []string) string {
		for _, name := range names {
			if _, err := t.reads.Resolve(filepath.Join(filepath.Dir(filepath.FromSlash(t.path)), name)); err == nil {
				return name
			}
		}
		return ""
	}
	main, override = first(composeNames), first(overrideNames)
	switch {
	case isMain && main == base:
		return "", override, ""
	case isMain:
		return "", "", main
	case main != "" && override != base:
		return main, "", override
	}
	return main, "", ""
}

// file reads the services of a file that another one names; lost is its name if it cannot be read.
func (r composer) file(from text, name string) (services []layer, lost string) {
	file := path.Join(path.Dir(from.path), name)
	if name == "" {
		return nil, ""
	}
	if from.path == check.Stdin || strings.Contains(name, "$") || path.IsAbs(name) {
		return nil, name
	}
	known, done := r.files[file]
	if !done {
		known = r.services(file)
		r.files[file] = known
	}
	if known == nil {
		return nil, name
	}
	return known, ""
}

func (r composer) services(file string) []layer {
	left := int64(mostNamed) // for their trees are held together
	for _, of := range r.files {
		if len(of) > 0 {
			left -= int64(len(of[0].text.bytes))
		}
	}
	b, err := r.reads.Read(filepath.FromSlash(file), left)
	if err != nil {
		return nil
	}
	t := parse(file, b)
	t.reads = r.reads
	if len(t.problems) > 0 {
		return nil
	}
	return phrase.Each(t.docs, func(d document) layer { return layer{t, d, r.get(d.root, "services")} })
}

const mostExtended = 16 // services, one after the other

func (r composer) extended(of layer, service *yaml.Node, u *unit) []layer {
	all := []layer{{of.text, of.doc, service}}
	for {
		from := r.get(service, "extends")
		if from == nil {
			break
		}
		if len(all) == mostExtended {
			u.limits = nil
			u.doubt(sets, "one of the more than %d services that it extends sets GOMAXPROCS", mostExtended)
			break
		}
		name := phrase.If(from.Kind == yaml.ScalarNode, from.Value, r.str(from, "service"))
		file := r.str(from, "file")
		if files, _ := r.file(of.text, file); file != "" {
			of = layer{}
			for _, f := range files {
				if r.get(f.node, name) != nil {
					of = f
				}
			}
		}
		if service = r.get(of.node, name); service == nil || service.Kind != yaml.MappingNode {
			u.limits = nil
			u.doubt(sets, "the service %s%s, which it extends, sets GOMAXPROCS", name, strings.TrimSuffix(" of "+file, " of "))
			break
		}
		all = append(all, layer{of.text, of.doc, service})
	}
	slices.Reverse(all)
	return all
}

// at is what the nearest layer says, before !reset and !override of farther ones.
func (s composed) at(keys ...string) (entry, layer) {
	for _, l := range slices.Backward(s.layers) {
		e, n, last := entry{}, l.node, false
		for _, key := range keys {
			e = s.entry(n, key, 0)
			if n = s.real(e.value); n == nil {
				break
			}
			if n.Tag == "!reset" {
				return entry{}, layer{}
			}
			last = last || n.Tag == "!override"
		}
		if n != nil {
			return entry{e.key, n}, l
		}
		if last {
			break
		}
	}
	return entry{}, layer{}
}

func (s composed) text(keys ...string) string {
	e, _ := s.at(keys...)
	if e.value == nil || e.value.Kind != yaml.ScalarNode || e.value.Tag == "!!null" {
		return ""
	}
	return e.value.Value
}

type said struct {
	layer
	entry
}

// each is what all layers say under a key whose values add up, the nearest last.
func (s composed) each(key string) (all []said) {
	for _, l := range s.layers {
		e := s.entry(l.node, key, 0)
		if e.value = s.real(e.value); e.value == nil {
			continue
		}
		if e.value.Tag == "!reset" || e.value.Tag == "!override" {
			all = nil
		}
		if e.value.Tag != "!reset" {
			all = append(all, said{l, e})
		}
	}
	return all
}

func (u *unit) composed(s composed) {
	u.image = s.text("image")
	cpus, cpuSet := composeLimit(s)
	// What docker compose replaces, or a template, is not known.
	if slices.ContainsFunc(composeLimits, func(keys []string) bool {
		text := s.text(keys...)
		return strings.Contains(text, "$") || marked().MatchString(text)
	}) {
		u.limits = nil
		u.doubt(counts, "another CPU limit is filled in")
	} else if cpus > 0 {
		u.limits = []facts.Limit{limitOf(cpus, "the service")}
	}
	if build, _ := s.at("build"); u.image == "" && build.value == nil { // docker compose does not take it alone
		if cpus == 0 {
			u.limits = nil
		}
		u.doubt(sets, "the compose file that it is merged with sets GOMAXPROCS")
	}
	if q, err := parseQuantity(s.text("deploy", "resources", "reservations", "cpus")); err == nil && u.limits != nil { // else there may be a limit
		u.written.Requests = q.cpus()
	}
	u.cpus = cpuSet
	if set := s.text("cpuset"); set != "" && cpuSet == 0 {
		u.doubt(counts, "cpuset %s, which docker compose fills in, binds it to another number of CPUs", phrase.Clip(set, 40))
	}
	if runtime := s.text("runtime"); Sandboxed(runtime) {
		u.doubt(counts, "the sandbox of the runtime %s has another number of CPUs", runtime)
	}
	u.composeEnvironment(s)
	var argv []string
	var at variable
	for _, key := range []string{"entrypoint", "command"} {
		e, l := s.at(key)
		if e.value == nil {
			continue
		}
		own, from := l.doc.commandOf(s.reader, mapping(e.key, e.value), key)
		if argv = append(argv, own...); at.line == 0 && l.text.path == u.at.Path {
			at = from
		}
	}
	u.starts(argv, at)
}

var composeLimits = [][]string{{"deploy", "resources", "limits", "cpus"}, {"cpus"}, {"cpu_quota"}, {"cpu_period"}}

// composeLimit is 0 for no limit, and for CPUs that are not bound.
func composeLimit(s composed) (cpus float64, cpuSet int) {
	positive := func(keys ...string) float64 {
		v, err := strconv.ParseFloat(s.text(keys...), 64)
		if err != nil || !(v > 0) {
			return 0
		}
		return v
	}
	cpus = cmp.Or(positive("deploy", "resources", "limits", "cpus"), positive("cpus"), positive("cpu_quota")/cmp.Or(positive("cpu_period"), period))
	if list, err := cpuset.Parse(s.text("cpuset")); err == nil {
		cpuSet = len(list)
	}
	return cpus, cpuSet
}

// composeEnvironment takes env_file, and environment, which goes before it.
func (u *unit) composeEnvironment(s composed) {
	for _, in := range s.each("env_file") {
		for _, name := range s.paths(in.value) {
			variables, read := envFile(filepath.Join(filepath.Dir(filepath.FromSlash(in.text.path)), filepath.FromSlash(name)), in.text.path, in.text.reads)
			if !read {
				u.doubtSource("the file %s, which is not read, sets GOMAXPROCS", name)
			}
			for _, a := range variables {
				v := composeVariable(str(unquote(withoutComment(a.value))), in.layer, in.key)
				v.source = name
				u.set(a.name, v)
			}
		}
	}
	for _, in := range s.each("environment") {
		for _, e := range s.entries(in.value) {
			u.set(e.key.Value, composeVariable(e.value, in.layer, e.key))
		}
		seen := false
		for _, item := range s.items(in.value) {
			name, value, given := strings.Cut(item.Value, "=")
			n := str(value)
			if !given {
				n.Tag = "!!null"
			}
			if name == variableName {
				u.written.Twice, seen = u.written.Twice || seen, true
			}
			u.set(name, composeVariable(n, in.layer, item))
		}
	}
}

// composeVariable is one of environment. Without a value it is handed on from the shell.
func composeVariable(n *yaml.Node, l layer, at *yaml.Node) variable {
	v := l.doc.variable(at, "environment", n.Value)
	v.file = l.text.path
	switch {
	case n.Tag == "!reset":
		return variable{}
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		return v.unknown("it comes from the shell that runs docker compose")
	case strings.Contains(strings.ReplaceAll(n.Value, "$$", ""), "$"):
		return v.unknown("docker compose replaces %.60q", n.Value)
	}
	v.value = strings.ReplaceAll(n.Value, "$$", "$")
	return v.filledIn(false)
}

// paths are the files of a text, or of a list of texts and of mappings that have a path.
func (r *reader) paths(n *yaml.Node) (names []string) {
	for _, item := range r.oneOrAll(n) {
		if item.Kind == yaml.MappingNode {
			names = append(names, texts(r.oneOrAll(r.get(item, "path")))...)
		} else {
			names = append(names, item.Value)
		}
	}
	return names
}

func (r *reader) oneOrAll(n *yaml.Node) []*yaml.Node {
	if n != nil && n.Kind == yaml.ScalarNode {
		return []*yaml.Node{n}
	}
	return r.items(n)
}

func (u *unit) set(name string, v variable) {
	if misspelt(name) {
		u.isGo, u.mistaken = true, append(u.mistaken, mistake{v, name + " is not GOMAXPROCS: the runtime does not read it", "write GOMAXPROCS, or suppress this finding if the program itself reads the variable"})
	}
	if !runtimeVariables[name] {
		return
	}
	u.isGo = true
	switch name {
	case "GOMAXPROCS":
		u.under, u.env = u.env, v
	case "GODEBUG":
		u.godebug = v
	}
}

const mostEnvFile = 1 << 20

// withoutComment is for compose: in other files the comment belongs to the value.
func withoutComment(value string) string {
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		if end := strings.IndexByte(value[1:], value[0]); end >= 0 {
			return value[:end+2]
		}
		return value
	}
	value, _, _ = strings.Cut(value, " #")
	return strings.TrimSpace(value)
}

type assignment struct {
	name, value string
	exported    bool // export is in front of it
}

// envFile is false if the file cannot be read, as is usual if it holds secrets.
func envFile(file, manifest string, reads *folder.Tree) (set []assignment, read bool) {
	if manifest == check.Stdin || path.IsAbs(filepath.ToSlash(file)) && !path.IsAbs(manifest) {
		return nil, false
	}
	b, err := reads.Read(file, mostEnvFile)
	if err != nil {
		return nil, false
	}
	for line := range strings.Lines(string(b)) {
		line, exported := strings.CutPrefix(strings.TrimSpace(line), "export ")
		name, value, ok := strings.Cut(line, "=")
		if ok && !strings.HasPrefix(name, "#") {
			set = append(set, assignment{strings.TrimSpace(name), strings.TrimSpace(value), exported})
		}
	}
	return set, true
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

const unitsOfCPU = 1024 // in which ECS counts one CPU

// taskLimit takes units, or "0.5 vCPU"; none: it is not a number.
func taskLimit(text string) []facts.Limit {
	number, vCPU := strings.CutSuffix(strings.ToLower(text), "vcpu")
	cpus, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if text != "" && err != nil {
		return nil
	}
	if !vCPU {
		cpus /= unitsOfCPU
	}
	return []facts.Limit{limitOf(0, "the container"), limitOf(cpus, taskDir)}
}

// ecs: the CPUs of the task are a limit of the group above its containers; those of a container are
// a share, and no limit (docs.aws.amazon.com/AmazonECS, task_definition_parameters).
func (c *Checker) ecs(t text, doc int) []*unit {
	r, d := &reader{left: mostNodes}, t.docs[doc]
	task := cmp.Or(r.get(d.root, "taskDefinition"), d.root)
	limit := taskLimit(r.str(task, "cpu"))
	var units []*unit
	for _, k := range r.items(task, "containerDefinitions") {
		u := &unit{image: r.str(k, "image")}
		u.at = rule.Place{Path: t.path, Line: d.line(k), Column: k.Column, Object: "task " + r.str(task, "family"), Container: r.str(k, "name")}
		u.limits = slices.Clone(limit)
		for _, e := range r.items(k, "environment") {
			v := d.variable(e, "environment", r.str(e, "value"))
			if r.str(e, "name") == variableName && u.env.isSet() {
				u.written.Twice = true
			}
			if isPlaceholder(v.value) {
				v = v.unknown("%.60q is filled in before the task definition is registered", v.value)
			}
			u.set(r.str(e, "name"), v)
		}
		ecsElsewhere(r, task, k, u, d)
		u.starts(d.commandOf(r, k, "entryPoint", "command"))
		units = append(units, u)
	}
	return units
}

// ecsElsewhere takes what ECS adds at the start, and what it runs on. On Windows the CPUs of a
// container are a limit, which the Go runtime does not read, and those of the task are none.
func ecsElsewhere(r *reader, task, k *yaml.Node, u *unit, d document) {
	for _, e := range r.items(k, "secrets") {
		u.set(r.str(e, "name"), d.variable(e, "secrets", "").unknown("it is in %s", r.str(e, "valueFrom")))
	}
	for _, e := range r.items(k, "environmentFiles") {
		u.doubt(sets, "the environment file %s sets GOMAXPROCS", r.str(e, "value"))
	}
	switch {
	case strings.HasPrefix(r.str(task, "runtimePlatform", "operatingSystemFamily"), "WINDOWS"):
		u.limits = nil
		u.doubt(counts, "Windows gives it another number of CPUs")
	case slices.ContainsFunc(r.items(task, "requiresCompatibilities"), func(n *yaml.Node) bool { return n.Value == "FARGATE" }):
		u.doubt(counts, "its machine on Fargate has another number of CPUs")
	}
}

// nomad: Resources.CPU is a share, in MHz; Cores are CPUs of its own
// (developer.hashicorp.com/nomad, json-jobs). exec2 makes a hidden limit of the share, and since
// August 2026 sets GOMAXPROCS (hashicorp/nomad-driver-exec2#98).
func (c *Checker) nomad(t text, doc int) []*unit {
	r, d := &reader{left: mostNodes}, t.docs[doc]
	job := cmp.Or(r.get(d.root, "Job"), d.root)
	var units []*unit
	for _, group := range r.items(job, "TaskGroups") {
		for _, task := range r.items(group, "Tasks") {
			units = append(units, c.nomadTask(r, t, d, job, task))
		}
	}
	return units
}

// exec2Sets is what the driver does, by its version, which a job does not name.
const exec2Sets = "the exec2 driver of the client sets GOMAXPROCS: since August 2026 it does, to the CPU share of the task rounded up to whole CPUs (hashicorp/nomad-driver-exec2#98)"

// plainDrivers start a task on the CPUs of the client.
var plainDrivers = []string{"docker", "podman", "exec", "exec2", "raw_exec", "java", "containerd-driver"}

func (c *Checker) nomadTask(r *reader, t text, d document, job, task *yaml.Node) *unit {
	u := &unit{image: r.str(task, "Config", "image")}
	u.at = rule.Place{Path: t.path, Line: d.line(task), Column: task.Column, Object: "job " + r.str(job, "ID"), Container: r.str(task, "Name")}
	u.limits = []facts.Limit{limitOf(0, "the task")}
	if r.str(task, "Config", "cpu_hard_limit") == "true" {
		u.limits = nil // there is one, in MHz of a machine that is not known
	}
	cores, _ := strconv.Atoi(r.str(task, "Resources", "Cores"))
	u.cpus = max(cores, 0)
	switch driver := r.str(task, "Driver"); {
	case driver == "exec2" && r.str(task, "Resources", "CPU") != "" && u.cpus == 0:
		u.limits = nil
		u.doubt(sets, exec2Sets)
	case driver != "" && !slices.Contains(plainDrivers, driver):
		u.doubt(counts, "what the driver %s starts has another number of CPUs", driver)
	}
	for _, e := range r.entries(r.get(task, "Env")) {
		v := d.variable(e.key, "Env", e.value.Value)
		if strings.Contains(v.value, "${") {
			v = v.unknown("Nomad replaces %.60q", v.value)
		}
		u.set(e.key.Value, v.filledIn(false))
	}
	for _, template := range r.items(task, "Templates") {
		if r.str(template, "Envvars") == "true" {
			u.doubt(replaces, "its template %s sets GOMAXPROCS", r.str(template, "DestPath"))
		}
	}
	u.starts(d.commandOf(r, r.get(task, "Config"), "entrypoint", "command", "args"))
	return u
}
