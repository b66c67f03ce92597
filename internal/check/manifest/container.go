package manifest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/wrapper"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/maxprocs/facts"
)

// container is one of a pod, before what other objects say of it is resolved.
type container struct {
	unit
	object  *object
	partial bool // a patch of a container that is written elsewhere
	removes bool // it takes GOMAXPROCS from that
	varies  bool // an overlay, or ytt, may give it another limit
	cpu     amounts
	podCPU  amounts
	windows bool // whose runtime reads no CPU limit
	stays   bool // it runs as long as the pod does
	injects bool // a mesh may add a container to its pod

	overlays  []*kustomization // that may change it
	resizable bool             // its CPU limit may change without a restart, and somebody means to

	fields  map[string]field // GOMAXPROCS and GODEBUG
	envFrom []source

	found    []check.Finding
	answered []string // the rules of those that a user has answered
	remedy   *remedy  // nil: there is none that is an edit
}

type amounts struct{ limit, request quantity }

type field struct {
	variable
	reference *reference // a resourceFieldRef
	of        amounts    // what it refers to
	config    *source    // a key of a ConfigMap
	refused   string
	kubelet   bool // it refuses, and not the API server
	twice     bool
}

type reference struct{ resource, divisor, container string }

type source struct {
	name, key, prefix string
	line, column      int
	secret            bool
}

func (p *pods) container(c, spec *yaml.Node, byName map[string]*yaml.Node, o *object) *container {
	d := p.text.docs[p.doc]
	k := &container{object: o, fields: map[string]field{}}
	k.unit.image = p.str(c, "image")
	k.at = p.place(c, o)
	k.at.Container = p.str(c, "name")
	k.partial = p.get(c, "image") == nil // an empty one is filled in by what deploys it
	if p.get(c, "command") != nil {      // else the image's own gets the args
		k.starts(d.commandOf(&p.reader, c, "command", "args"))
	}
	p.script(c, d, k)
	k.cpu = p.amounts(c, k)
	k.podCPU = p.amounts(spec, k)
	k.resizable = p.resizable(c)
	for _, item := range p.items(c, "envFrom") {
		for _, kind := range []string{"configMapRef", "secretRef"} {
			if name := p.str(item, kind, "name"); name != "" {
				k.envFrom = append(k.envFrom, source{
					name: name, prefix: p.str(item, "prefix"), secret: kind == "secretRef", line: d.line(item), column: item.Column,
				})
			}
		}
	}
	literal, late := map[string]string{}, map[string]bool{} // late: only the running pod has their values
	for _, item := range p.items(c, "env") {
		name := p.str(item, "name")
		k.isGo = k.isGo || runtimeVariables[name]
		if p.str(item, "$patch") == "delete" { // of a patch, which takes it from the object
			k.removes = k.removes || name == variableName
			continue
		}
		if misspelt(name) {
			k.set(name, d.variable(item, "env", ""))
		}
		if name == "GOMAXPROCS" || name == "GODEBUG" {
			f := p.field(item, c, byName, d)
			f.value = expand(f.value, literal)
			f.fromLate(late, len(k.envFrom) > 0)
			if before, ok := k.fields[name]; ok {
				f.twice = true
				f.line, f.column = before.line, before.column
			}
			k.fields[name] = f
		}
		switch v, from := p.get(item, "value"), p.get(item, "valueFrom"); {
		case from != nil && from.Kind == yaml.MappingNode:
			late[name] = true
			delete(literal, name)
		case v != nil && v.Kind == yaml.ScalarNode && len(literal) < 1000:
			literal[name] = expand(v.Value, literal)
			delete(late, name)
			k.refers = k.refers || strings.Contains(v.Value, "$("+variableName+")")
		}
	}
	for _, word := range p.items(c, "args") { // also of a command that is the image's
		k.refers = k.refers || strings.Contains(word.Value, variableName)
	}
	return k
}

// scriptKeys have the text that a step of Tekton and a template of Argo run.
var scriptKeys = []string{"script", "source"}

// script takes such a text, if it names the variable, as the text after the -c of its shell.
func (p *pods) script(c *yaml.Node, d document, k *container) {
	shell := texts(p.items(c, "command")) // Argo's
	for _, key := range scriptKeys {
		text := p.str(c, key)
		if !strings.Contains(text, variableName) {
			continue
		}
		if first, rest, _ := strings.Cut(text, "\n"); strings.HasPrefix(first, "#!") {
			shell, text = strings.Fields(first[2:]), rest
		} else if key == "script" {
			shell = []string{"sh"}
		}
		if i := slices.IndexFunc(shell, wrapper.IsShell); i >= 0 {
			k.starts(append(shell[i:], "-c", text), d.variable(p.entry(c, key, 0).key, sourceCommand, ""))
		} else {
			k.doubt(replaces, "its %s sets another", key)
		}
	}
}

// resourceKeys are where a container has its resources; the second is a step's of Tekton.
var resourceKeys = []string{"resources", "computeResources"}

func (p *pods) amounts(n *yaml.Node, k *container) amounts {
	read := func(kind string) quantity {
		for _, key := range resourceKeys {
			if list := p.at(n, key, kind); list != nil && list.Kind == yaml.ScalarNode && list.Tag != "!!null" && !isPlaceholder(list.Value) {
				k.written.Refused, k.written.Quantity = fmt.Sprintf("%s.%s: %.40q is not a list of amounts such as cpu: 2", key, kind, list.Value), true
			}
		}
		text := cmp.Or(p.str(n, resourceKeys[0], kind, "cpu"), p.str(n, resourceKeys[1], kind, "cpu"))
		if text == "" {
			return quantity{}
		}
		q, err := parseQuantity(text)
		if err != nil && isPlaceholder(text) {
			return quantity{text: text}
		}
		if err != nil {
			k.written.Refused, k.written.Quantity = "resources."+kind+".cpu: "+err.Error(), true
			return quantity{}
		}
		return q
	}
	return amounts{read("limits"), read("requests")}
}

const bothValues = "a variable has a value or a valueFrom, not both"

func (p *pods) field(item, c *yaml.Node, byName map[string]*yaml.Node, d document) field {
	f := field{variable: d.variable(item, "env", "")}
	value, from := p.get(item, "value"), p.get(item, "valueFrom")
	switch {
	case value != nil && value.Tag != "!!null" && value.Value != "" && from != nil && from.Kind == yaml.MappingNode: // an empty one is none
		f.refused = bothValues
		f.value = value.Value
	case from != nil && from.Kind == yaml.MappingNode:
		p.valueFrom(&f, from, c, byName)
	case value != nil && value.Kind == yaml.ScalarNode && value.Tag != "!!null":
		f.value = value.Value
		if value.Tag != "!!str" {
			f.refused = fmt.Sprintf("value: %s is not a string; write it in quotes", value.Value)
		}
	case value != nil && value.Kind != yaml.ScalarNode:
		f.refused = "the value is not a string"
	}
	return f
}

func (p *pods) valueFrom(f *field, from, c *yaml.Node, byName map[string]*yaml.Node) {
	switch {
	case p.get(from, "resourceFieldRef") != nil:
		r := p.get(from, "resourceFieldRef")
		f.reference = &reference{p.str(r, "resource"), p.str(r, "divisor"), p.str(r, "containerName")}
		of := c
		if f.reference.container != "" {
			of = byName[f.reference.container]
		}
		if of == nil {
			f.refused = fmt.Sprintf("containerName: %q is not a container of this pod", f.reference.container)
			f.kubelet = true
			f.variable = f.unknown("%s", f.refused)
			f.source = "env, resourceFieldRef"
			return
		}
		f.of = p.amounts(of, new(container))
		if f.reference.resource == "limits.memory" || f.reference.resource == "requests.memory" {
			kind, _, _ := strings.Cut(f.reference.resource, ".")
			q, _ := parseQuantity(p.str(of, "resources", kind, "memory")) // none is "no number known"
			f.of = amounts{limit: q, request: q}
		}
	case p.get(from, "configMapKeyRef") != nil:
		r := p.get(from, "configMapKeyRef")
		f.config = &source{name: p.str(r, "name"), key: p.str(r, "key")}
	case p.get(from, "secretKeyRef") != nil:
		f.variable = f.unknown("it is in Secret %s", p.str(from, "secretKeyRef", "name"))
	default:
		f.variable = f.unknown("it is a field of the running pod")
	}
}

// incomplete: the pod may have other containers than the file, so that a name which is not in it may be one of theirs,
// and a patch uses variables of its object.
func (k *container) incomplete() {
	for name, f := range k.fields {
		if f.kubelet {
			f.refused, f.kubelet, f.why = "", false, fmt.Sprintf("container %.60s is not in this file", f.reference.container)
		}
		f.fromLate(nil, k.partial)
		k.fields[name] = f
	}
}

// expand replaces $(NAME) as the kubelet does: what is not known stays, and $$ is a dollar.
func expand(s string, known map[string]string) string {
	if len(s) > longestData {
		return s
	}
	return dollars().ReplaceAllStringFunc(s, func(use string) string {
		if use == "$$" {
			return "$"
		}
		if v, ok := known[use[2:len(use)-1]]; ok && len(v) <= longestData {
			return v
		}
		return use
	})
}

var dollars = pattern.Of(`\$\$|\$\([^)]*\)`)

// fromLate makes a template's value unknown, and one that names a variable which only the running
// pod has, as $(NAME).
func (f *field) fromLate(late map[string]bool, envFrom bool) {
	if f.state != facts.Known || len(f.value) > longestData {
		return
	}
	if isPlaceholder(f.value) {
		f.variable = f.unknown("%.60q is filled in before the manifest is applied", f.value)
		return
	}
	for rest, found := f.value, true; found; {
		_, rest, found = strings.Cut(rest, "$(")
		if name, _, closed := strings.Cut(rest, ")"); found && closed && (late[name] || envFrom) {
			f.variable = f.unknown("$(%.60s) is filled in when the container starts", name)
			return
		}
	}
}

// isPlaceholder finds ${CPU} of envsubst, Flux and OpenShift, and those of marked.
func isPlaceholder(text string) bool {
	return strings.Contains(text, "${") || marked().MatchString(text)
}

// marked are placeholders that no shell has: {{ cpu }} of Jinja and Go, @CPU@ of configure, __CPU__, <CPU>.
var marked = pattern.Of(`\{\{|@[A-Z]\w*@|__[A-Z]\w*__|<[A-Z]\w*>`)

func lastLine(n *yaml.Node, depth int) int {
	line := n.Line
	if depth > deepestTree || n.Kind == yaml.AliasNode {
		return line
	}
	for _, c := range n.Content {
		line = max(line, lastLine(c, depth+1))
	}
	return line
}

// quantity is an amount of a resource
// (kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity).
type quantity struct {
	amount *resource.Quantity // nil: none is written, or it is unknown
	text   string
}

// unknown: it is written as the placeholder of a template.
func (q quantity) none() bool    { return q.amount == nil && q.text == "" }
func (q quantity) unknown() bool { return q.amount == nil && q.text != "" }

// longestQuantity and farExponent bound the work that a hostile one may cause.
const longestQuantity = 64

var farExponent = pattern.Of(`[eE][+-]?[0-9]{3}`)

// parseQuantity reads "500m", "1.5", "2e3", "1Gi".
func parseQuantity(text string) (quantity, error) {
	if len(text) <= longestQuantity && !farExponent().MatchString(text) {
		if amount, err := resource.ParseQuantity(text); err == nil {
			return quantity{&amount, text}, nil
		}
	}
	return quantity{}, fmt.Errorf("%.40q is not a quantity such as 500m or 1.5", text)
}

// To Kubernetes a limit of zero is none.
func (q quantity) positive() bool { return q.amount != nil && q.amount.Sign() > 0 }

func (q quantity) cpus() float64 {
	if q.amount == nil {
		return 0
	}
	exact := q.amount.DeepCopy() // AsDec changes what it is called on
	f, _ := strconv.ParseFloat(exact.AsDec().String(), 64)
	return f
}

// ceil is rounded as a resourceFieldRef is: CPUs first to thousandths (k8s.io/kubectl,
// resource.convertResourceCPUToString).
func (q quantity) ceil(divisor quantity) int64 {
	const most = math.MaxInt64 / 1000 // whose thousandths are a number of 64 bits
	switch {
	case q.amount.CmpInt64(most) > 0:
		return math.MaxInt64
	case q.amount.CmpInt64(-most) < 0:
		return math.MinInt64
	case !divisor.positive():
		return 0
	case divisor.amount.CmpInt64(most) > 0:
		return int64(max(q.amount.Sign(), 0))
	}
	num, den := q.amount.MilliValue(), divisor.amount.MilliValue()
	n := num / den
	switch {
	case q.amount.Sign() < 0: // some below zero are rounded to thousandths above it
		return min(n, 0)
	case num%den > 0:
		n++
	}
	return n
}
