package manifest

import (
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
	var units []*unit
	for _, e := range r.entries(r.get(d.root, "services")) {
		if e.value.Kind != yaml.MappingNode {
			continue
		}
		u := &unit{env: absent(), godebug: absent(), image: r.str(e.value, "image")}
		u.at = rule.Place{Path: t.path, Line: d.line(e.key), Column: e.key.Column, Object: "service " + e.key.Value}
		cpus, cpuSet := composeLimit(r, e.value)
		// What a service takes over from another file is not read, nor its limit; and what
		// docker compose replaces is not known.
		replaced := slices.ContainsFunc(composeLimits, func(keys []string) bool { return strings.Contains(r.str(e.value, keys...), "$") })
		if !replaced && (cpus > 0 || r.get(e.value, "extends") == nil) {
			u.limits = []facts.Limit{limitOf(cpus, "the service")}
			if q, err := parseQuantity(r.str(e.value, "deploy", "resources", "reservations", "cpus")); err == nil {
				u.written.Requests = q.cpus()
			}
		}
		u.cpus = cpuSet
		composeEnvironment(r, t, d, e.value, u)
		argv, at := commandOf(r, e.value, "entrypoint", "command")
		u.starts(argv, at, d.lines)
		units = append(units, u)
	}
	return units
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
		for key, value := range envFile(filepath.Join(filepath.Dir(filepath.FromSlash(t.path)), filepath.FromSlash(name)), t.path, t.reads) {
			at := r.entry(service, "env_file", 0).key
			v := composeVariable(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: unquote(withoutComment(value))}, d.line(at), at.Column)
			v.source = name
			u.set(key, v)
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
		u.isGo, u.misspelt = true, append(u.misspelt, misspeltName{name, v})
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

// envFile is the variables of a file next to a manifest, with their quotes. One that is not
// there, as is usual where it holds secrets, sets none.
func envFile(file, manifest string, reads *folder.Tree) map[string]string {
	if manifest == check.Stdin || path.IsAbs(filepath.ToSlash(file)) && !path.IsAbs(manifest) {
		return nil
	}
	b, err := reads.Read(file, mostEnvFile)
	if err != nil {
		return nil
	}
	set := map[string]string{}
	for line := range strings.Lines(string(b)) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if ok && !strings.HasPrefix(name, "#") {
			set[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return set
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
			u.set(r.str(e, "name"), value)
		}
		argv, at := commandOf(r, k, "entryPoint", "command")
		u.starts(argv, at, d.lines)
		units = append(units, u)
	}
	return units
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

func (c *Checker) nomadTask(r *reader, t text, d document, job, task *yaml.Node) *unit {
	u := &unit{env: absent(), godebug: absent(), image: r.str(task, "Config", "image")}
	u.at = rule.Place{Path: t.path, Line: d.line(task), Column: task.Column, Object: "job " + r.str(job, "ID"), Container: r.str(task, "Name")}
	u.limits = []facts.Limit{limitOf(0, "the task")}
	if r.str(task, "Config", "cpu_hard_limit") == "true" {
		u.limits = nil // there is one, in MHz of a machine that is not known
	}
	if r.str(task, "Driver") == "exec2" && r.str(task, "Resources", "CPU") != "" {
		u.limits, u.open = nil, exec2Sets
	}
	if cores, err := strconv.Atoi(r.str(task, "Resources", "Cores")); err == nil && cores > 0 {
		u.cpus, u.open = cores, ""
	}
	for _, e := range r.entries(r.get(task, "Env")) {
		u.set(e.key.Value, variable{state: facts.Known, value: e.value.Value, source: "Env", line: d.line(e.key), column: e.key.Column, last: d.line(e.key)})
	}
	argv, at := commandOf(r, r.get(task, "Config"), "entrypoint", "command", "args")
	u.starts(argv, at, d.lines)
	return u
}
