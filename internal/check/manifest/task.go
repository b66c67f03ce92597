package manifest

import (
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// unitsOfCPU are those in which ECS counts one CPU.
const unitsOfCPU = 1024

// ecs reads a task definition of Amazon ECS. The CPUs of the task are a limit of the
// group above its containers; those of a container are a share, and no limit
// (docs.aws.amazon.com/AmazonECS, task_definition_parameters).
func (c *Checker) ecs(t text, doc int) []*unit {
	r, d := &reader{left: mostNodes}, t.docs[doc]
	task := d.root
	if inner := r.get(task, "taskDefinition"); inner != nil {
		task = inner
	}
	taskCPUs, _ := strconv.ParseFloat(r.str(task, "cpu"), 64)
	var units []*unit
	for _, k := range r.items(task, "containerDefinitions") {
		u := &unit{env: absent(), godebug: absent(), image: r.str(k, "image")}
		u.at = rule.Place{Path: t.path, Line: d.line(k), Column: k.Column, Object: "task " + r.str(task, "family"), Container: r.str(k, "name")}
		u.limits = []facts.Limit{limitOf(0, "the container"), limitOf(taskCPUs/unitsOfCPU, "the task")}
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
// of its own, to which a task is bound (developer.hashicorp.com/nomad, json-jobs).
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

func (c *Checker) nomadTask(r *reader, t text, d document, job, task *yaml.Node) *unit {
	u := &unit{env: absent(), godebug: absent(), image: r.str(task, "Config", "image")}
	u.at = rule.Place{Path: t.path, Line: d.line(task), Column: task.Column, Object: "job " + r.str(job, "ID"), Container: r.str(task, "Name")}
	u.limits = []facts.Limit{limitOf(0, "the task")}
	if r.str(task, "Config", "cpu_hard_limit") == "true" {
		u.limits = nil // there is one, of so many MHz of a machine that is not known
	}
	if cores, err := strconv.Atoi(r.str(task, "Resources", "Cores")); err == nil && cores > 0 {
		u.cpus = cores
	}
	for _, e := range r.entries(r.get(task, "Env")) {
		u.set(e.key.Value, variable{state: facts.Known, value: e.value.Value, source: "Env", line: d.line(e.key), column: e.key.Column, last: d.line(e.key)})
	}
	argv, at := commandOf(r, r.get(task, "Config"), "entrypoint", "command", "args")
	u.starts(argv, at, d.lines)
	return u
}
