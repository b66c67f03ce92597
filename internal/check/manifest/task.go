package manifest

import (
	"cmp"
	"fmt"
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
	"github.com/procfit/procfit/maxprocs/facts"
)

// compose reads the services of a compose file (docs.docker.com/reference/compose-file).
func (c *Checker) compose(t text, doc int) []*unit {
	r, d := &reader{left: mostNodes}, t.docs[doc]
	services := r.get(d.root, "services")
	override := composeOverride(t)
	var units []*unit
	for _, e := range r.entries(services) {
		if e.value.Kind != yaml.MappingNode {
			continue
		}
		u := &unit{env: absent(), godebug: absent()}
		u.at = rule.Place{Path: t.path, Line: d.line(e.key), Column: e.key.Column, Object: "service " + e.key.Value}
		u.limits = []facts.Limit{limitOf(0, "the service")}
		for _, service := range extended(r, services, e.value, u) {
			u.service(r, t, d, service)
		}
		if u.limits == nil { // there may be one
			u.written.Requests = 0
		}
		if override != "" {
			u.doubt(replaces, "%s, which docker compose adds, sets another", override)
		}
		units = append(units, u)
	}
	return units
}

// composeOverride is the file next to a compose file that docker compose merges into it by its
// name alone; "": there is none.
func composeOverride(t text) string {
	base := path.Base(t.path)
	stem := strings.TrimSuffix(strings.TrimSuffix(base, ".yml"), ".yaml")
	if t.path == check.Stdin || stem != "compose" && stem != "docker-compose" {
		return ""
	}
	for _, name := range []string{stem + ".override.yml", stem + ".override.yaml"} {
		if _, err := t.reads.Resolve(filepath.Join(filepath.Dir(filepath.FromSlash(t.path)), name)); err == nil {
			return name
		}
	}
	return ""
}

// mostExtended is how far services of a file may extend each other.
const mostExtended = 16

// extended are the services that make up one, the nearest last. What comes from another file
// is not read, nor its limit.
func extended(r *reader, services, service *yaml.Node, u *unit) []*yaml.Node {
	all := []*yaml.Node{service}
	for len(all) < mostExtended {
		from := r.get(service, "extends")
		if from == nil {
			break
		}
		name := r.str(from, "service")
		if from.Kind == yaml.ScalarNode {
			name = from.Value
		}
		file := r.str(from, "file")
		if service = r.get(services, name); file != "" || service == nil || service.Kind != yaml.MappingNode {
			u.limits = nil
			u.doubt(sets, "the service %s%s, which it extends, sets GOMAXPROCS", name, strings.TrimSuffix(" of "+file, " of "))
			break
		}
		all = append(all, service)
	}
	slices.Reverse(all)
	return all
}

// service takes what a mapping says of a service, over what another has said that it extends.
func (u *unit) service(r *reader, t text, d document, n *yaml.Node) {
	u.image = cmp.Or(r.str(n, "image"), u.image)
	cpus, cpuSet := composeLimit(r, n)
	// What docker compose replaces is not known.
	if slices.ContainsFunc(composeLimits, func(keys []string) bool { return strings.Contains(r.str(n, keys...), "$") }) {
		u.limits = nil
		u.doubt(counts, "docker compose fills in another CPU limit")
	} else if cpus > 0 {
		u.limits = []facts.Limit{limitOf(cpus, "the service")}
	}
	if q, err := parseQuantity(r.str(n, "deploy", "resources", "reservations", "cpus")); err == nil {
		u.written.Requests = q.cpus()
	}
	u.cpus = cmp.Or(cpuSet, u.cpus)
	if runtime := r.str(n, "runtime"); runtime != "" && !slices.Contains(plainClasses, runtime) {
		u.doubt(counts, "the sandbox of the runtime %s has another number of CPUs", runtime)
	}
	composeEnvironment(r, t, d, n, u)
	if argv, at := commandOf(r, n, "entrypoint", "command"); len(argv) > 0 {
		u.starts(argv, at, d.lines)
	}
}

// composeLimits are the keys of a service that limit its CPUs.
var composeLimits = [][]string{{"deploy", "resources", "limits", "cpus"}, {"cpus"}, {"cpu_quota"}, {"cpu_period"}}

// composeLimit is the CPU limit of a service, 0 for none, and how many CPUs it is bound
// to.
func composeLimit(r *reader, service *yaml.Node) (cpus float64, cpuSet int) {
	for _, text := range []string{r.str(service, "deploy", "resources", "limits", "cpus"), r.str(service, "cpus")} {
		if v, err := strconv.ParseFloat(text, 64); err == nil && v > 0 {
			cpus = v
			break
		}
	}
	quota, errQuota := strconv.ParseFloat(r.str(service, "cpu_quota"), 64)
	if cpus == 0 && errQuota == nil && quota > 0 {
		per := float64(period)
		if p, err := strconv.ParseFloat(r.str(service, "cpu_period"), 64); err == nil && p > 0 {
			per = p
		}
		cpus = quota / per
	}
	if list, err := cpuset.Parse(r.str(service, "cpuset")); err == nil {
		cpuSet = len(list)
	}
	return cpus, cpuSet
}

// composeEnvironment takes env_file, and environment, which goes before it.
func composeEnvironment(r *reader, t text, d document, service *yaml.Node, u *unit) {
	for _, name := range composeEnvFiles(r, service) {
		variables, read := envFile(filepath.Join(filepath.Dir(filepath.FromSlash(t.path)), filepath.FromSlash(name)), t.path, t.reads)
		if !read {
			u.doubt(sets, "the file %s, which is not read, sets GOMAXPROCS", name)
		}
		for _, a := range variables {
			at := r.entry(service, "env_file", 0).key
			v := composeVariable(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: unquote(withoutComment(a.value))}, d.line(at), at.Column)
			v.source = name
			u.set(a.name, v)
		}
	}
	environment := r.get(service, "environment")
	for _, e := range r.entries(environment) {
		u.set(e.key.Value, composeVariable(e.value, d.line(e.key), e.key.Column))
	}
	for _, item := range r.items(environment) {
		name, value, given := strings.Cut(item.Value, "=")
		v := composeVariable(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}, d.line(item), item.Column)
		if !given {
			v = composeVariable(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}, d.line(item), item.Column)
		}
		if u.env.line > 0 && name == "GOMAXPROCS" && u.env.source == "environment" {
			u.written.Twice = true
		}
		u.set(name, v)
	}
}

// composeVariable is one of environment. Without a value it is handed on from the shell.
func composeVariable(n *yaml.Node, line, column int) variable {
	v := variable{state: facts.Known, value: n.Value, source: "environment", line: line, column: column, last: line}
	switch {
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		v.state, v.value, v.why = facts.Unreadable, "", "it comes from the shell that runs docker compose"
	case strings.Contains(strings.ReplaceAll(n.Value, "$$", ""), "$"):
		v.state, v.value, v.why = facts.Unreadable, "", fmt.Sprintf("docker compose replaces %.60q", n.Value)
	default:
		v.value = strings.ReplaceAll(n.Value, "$$", "$")
	}
	return v
}

func composeEnvFiles(r *reader, service *yaml.Node) []string {
	n := r.get(service, "env_file")
	if n == nil {
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		return []string{n.Value}
	}
	var names []string
	for _, item := range r.items(n) {
		if item.Kind == yaml.ScalarNode {
			names = append(names, item.Value)
		} else if name := r.str(item, "path"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// set takes a variable of the environment, where it is one that counts.
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
		u.env = v
	case "GODEBUG":
		u.godebug = v
	}
}

// mostEnvFile is more than any file of variables.
const mostEnvFile = 1 << 20

// withoutComment is a value of a file of compose without the comment behind it: in others the
// comment belongs to the value.
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

// assignment is a line of a file of variables.
type assignment struct {
	name, value string
	exported    bool // export is in front of it
}

// envFile is the variables of a file next to a manifest, with their quotes; false: it cannot be
// read, or is not there, as is usual where it holds secrets.
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

// unitsOfCPU are those in which ECS counts one CPU.
const unitsOfCPU = 1024

// taskLimit are the limits of a container by the CPUs of its task, which are in units or as in
// "0.5 vCPU"; none: they are written as something else, such as a placeholder.
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

// ecs reads a task definition of Amazon ECS. The CPUs of the task are a limit of the
// group above its containers; those of a container are a share, and no limit
// (docs.aws.amazon.com/AmazonECS, task_definition_parameters).
func (c *Checker) ecs(t text, doc int) []*unit {
	r, d := &reader{left: mostNodes}, t.docs[doc]
	task := d.root
	if inner := r.get(task, "taskDefinition"); inner != nil {
		task = inner
	}
	limit := taskLimit(r.str(task, "cpu"))
	var units []*unit
	for _, k := range r.items(task, "containerDefinitions") {
		u := &unit{env: absent(), godebug: absent(), image: r.str(k, "image")}
		u.at = rule.Place{Path: t.path, Line: d.line(k), Column: k.Column, Object: "task " + r.str(task, "family"), Container: r.str(k, "name")}
		u.limits = slices.Clone(limit)
		for _, e := range r.items(k, "environment") {
			value := variable{state: facts.Known, value: r.str(e, "value"), source: "environment", line: d.line(e), column: e.Column, last: d.lines + lastLine(e, 0)}
			if r.str(e, "name") == "GOMAXPROCS" && u.env.line > 0 {
				u.written.Twice = true
			}
			if isPlaceholder(value.value) {
				value.state, value.value, value.why = facts.Unreadable, "", fmt.Sprintf("%.60q is filled in before the task definition is registered", value.value)
			}
			u.set(r.str(e, "name"), value)
		}
		ecsElsewhere(r, task, k, u, d)
		argv, at := commandOf(r, k, "entryPoint", "command")
		u.starts(argv, at, d.lines)
		units = append(units, u)
	}
	return units
}

// ecsElsewhere takes what ECS adds to a container when it starts, and what it runs it on: of
// Fargate a machine of its own. On Windows the CPUs of a container are a limit, which the Go runtime does
// not read, and those of the task are none.
func ecsElsewhere(r *reader, task, k *yaml.Node, u *unit, d document) {
	for _, e := range r.items(k, "secrets") {
		u.set(r.str(e, "name"), variable{state: facts.Unreadable, why: "it is in " + r.str(e, "valueFrom"), source: "secrets", line: d.line(e), column: e.Column, last: d.lines + lastLine(e, 0)})
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

// nomad reads a job of Nomad as JSON. Resources.CPU is a share, in MHz; Cores are CPUs
// of its own, to which a task is bound (developer.hashicorp.com/nomad, json-jobs). The driver
// exec2 makes a limit of the share, and hides it from the task: until August 2026 a task
// used all CPUs, since then the driver sets GOMAXPROCS (hashicorp/nomad-driver-exec2#98).
func (c *Checker) nomad(t text, doc int) []*unit {
	r, d := &reader{left: mostNodes}, t.docs[doc]
	job := d.root
	if inner := r.get(job, "Job"); inner != nil {
		job = inner
	}
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
	u := &unit{env: absent(), godebug: absent(), image: r.str(task, "Config", "image")}
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
		v := variable{state: facts.Known, value: e.value.Value, source: "Env", line: d.line(e.key), column: e.key.Column, last: d.line(e.key)}
		if strings.Contains(v.value, "${") {
			v.state, v.value, v.why = facts.Unreadable, "", fmt.Sprintf("Nomad replaces %.60q", v.value)
		}
		u.set(e.key.Value, v)
	}
	for _, template := range r.items(task, "Templates") {
		if r.str(template, "Envvars") == "true" {
			u.doubt(replaces, "its template %s sets GOMAXPROCS", r.str(template, "DestPath"))
		}
	}
	argv, at := commandOf(r, r.get(task, "Config"), "entrypoint", "command", "args")
	u.starts(argv, at, d.lines)
	return u
}
