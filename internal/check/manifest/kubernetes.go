package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/expected"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Annotations of a pod or its template, also with a dot and the name of a container after them.
const (
	AnnotationGo     = "procfit/go"
	annotationIgnore = "procfit/ignore"
)

type object struct {
	file      *check.File
	path      string // of the file
	doc       int    // the document of the file
	kind      string
	name      string
	namespace string
	rendered  string // by what, where the file was not written by hand
	cloudRun  bool   // it is for Cloud Run, which runs it in a sandbox

	meta *yaml.Node
}

func (o *object) String() string {
	return phrase.Join("/", o.kind, o.name)
}

type pods struct {
	reader
	file *check.File
	text text
	doc  int
	to   check.Sink
	into *store

	found bool // there is an object
	ytt   bool // ytt fills it in: what it writes is a comment to others
}

// document names an object without containers that sets GOMAXPROCS.
func (p *pods) document() error {
	d := p.text.docs[p.doc]
	p.left = mostNodes
	p.object(d.root, nil, 0)
	if !p.found {
		if at := first(d.root, p.isSetting, 0); at != nil {
			p.found = true
			p.notUnderstood(&object{}, at)
		}
	}
	if p.left < 0 {
		return errExpands
	}
	return nil
}

// deepestTree is how far down containers are looked for.
const deepestTree = 200

func (p *pods) object(n *yaml.Node, o *object, depth int) {
	n = p.real(n)
	if n == nil || depth > deepestTree || p.left < 0 {
		return
	}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			p.object(item, o, depth+1)
		}
		return
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	if kind := p.str(n, "kind"); kind != "" && p.get(n, "apiVersion") != nil {
		p.found = true
		o = &object{
			file: p.file, path: p.text.path, doc: p.doc, kind: kind, name: p.str(n, "metadata", "name"),
			namespace: p.str(n, "metadata", "namespace"), rendered: p.rendered(n),
			cloudRun: p.forCloudRun(n), meta: p.get(n, "metadata"),
		}
		switch kind {
		case "ConfigMap":
			p.into.configs[o.name] = append(p.into.configs[o.name], &config{object: *o, data: p.configData(n)})
			p.refusedData(n, o)
			return
		case "LimitRange":
			if limit, request := p.defaults(n); limit.amount != nil || request.amount != nil {
				p.into.ranges = append(p.into.ranges, limitRange{*o, limit, request})
			}
			return
		case "HorizontalPodAutoscaler", "ScaledObject":
			p.autoscaler(n, o)
			return
		case "VerticalPodAutoscaler":
			p.resizer(n, o)
			return
		case "CustomResourceDefinition", "Secret":
			return
		}
		p.workload(n, o, depth)
		return
	}
	if o == nil {
		if depth == 0 {
			p.prow(n)
		}
		// A kind may be further down, as in a template that lists objects.
		for i := 1; i < len(n.Content); i += 2 {
			p.object(n.Content[i], nil, depth+1)
		}
		return
	}
	p.below(n, o, depth)
}

// An object that names GOMAXPROCS and has no container was not understood.
func (p *pods) workload(n *yaml.Node, o *object, depth int) {
	before := len(p.into.containers)
	if !strings.HasPrefix(p.str(n, "apiVersion"), "kyverno.io/") { // its policies have patterns of pods
		p.below(n, o, depth)
	}
	if len(p.into.containers) > before {
		return
	}
	naming := func(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && strings.Contains(n.Value, variableName) }
	if at := first(n, naming, 0); at != nil {
		p.notUnderstood(o, at)
	}
}

// prow takes the jobs of a file of Prow, by repository or not: they have the spec of a pod.
func (p *pods) prow(root *yaml.Node) {
	for _, key := range []string{"presubmits", "postsubmits", "periodics"} {
		lists := []*yaml.Node{p.get(root, key)}
		for _, e := range p.entries(lists[0]) {
			lists = append(lists, e.value)
		}
		for _, list := range lists {
			for _, job := range p.items(list) {
				if spec := p.get(job, "spec"); p.isPodSpec(spec) {
					p.found = true
					p.prowJob(job, spec)
				}
			}
		}
	}
}

func (p *pods) prowJob(job, spec *yaml.Node) {
	before := len(p.into.containers)
	p.pod(job, spec, &object{file: p.file, path: p.text.path, doc: p.doc, kind: "ProwJob", name: p.str(job, "name"), meta: job})
	for _, e := range p.entries(p.get(job, "labels")) {
		for _, k := range p.into.containers[before:] {
			if strings.HasPrefix(e.key.Value, "preset-") {
				k.doubt(sets, "the preset of the label %s sets GOMAXPROCS", e.key.Value)
			}
		}
	}
}

func (p *pods) isSetting(n *yaml.Node) bool {
	return p.str(n, "name") == variableName && (p.get(n, "value") != nil || p.get(n, "valueFrom") != nil)
}

// first is the first such node outside of nested objects; nil: there is none.
func first(n *yaml.Node, is func(*yaml.Node) bool, depth int) *yaml.Node {
	if n == nil || n.Kind == yaml.AliasNode || depth > deepestTree {
		return nil
	}
	if is(n) {
		return n
	}
	kind, _ := child(n, "kind")
	if version, _ := child(n, "apiVersion"); depth > 0 && kind != nil && version != nil {
		return nil
	}
	for _, c := range n.Content {
		if at := first(c, is, depth+1); at != nil {
			return at
		}
	}
	return nil
}

func (p *pods) notUnderstood(o *object, at *yaml.Node) {
	p.into.unread = append(p.into.unread, check.Value{
		Place: p.place(at, o), Text: "not known", Source: "it names GOMAXPROCS, and procfit does not understand it", Open: "procfit finds no container in it", Go: true,
	})
}

func (p *pods) place(n *yaml.Node, o *object) rule.Place {
	return rule.Place{Path: p.text.path, Line: p.text.docs[p.doc].line(n), Column: n.Column, Object: o.String()}
}

// below looks into a mapping of an object: is one of its values a pod's spec?
func (p *pods) below(n *yaml.Node, o *object, depth int) {
	if p.isPodSpec(n) { // without a parent that has metadata
		defer p.operated(len(p.into.containers))
		p.pod(nil, n, o)
		return
	}
	if p.isContainer(n, o) {
		p.pod(o.meta, mapping("containers", list(n)), o)
	}
	var steps *yaml.Node
	template := p.get(n, "stepTemplate")
	if template != nil {
		steps = p.get(n, "steps")
		p.steps(p.items(steps), template, o)
	}
	for i := 1; i < len(n.Content); i += 2 {
		v := p.real(n.Content[i])
		if v == nil || v.Kind == yaml.ScalarNode || v == template || v == steps {
			continue
		}
		if p.isPodSpec(v) {
			first := len(p.into.containers)
			p.pod(p.get(n, "metadata"), v, o)
			if n.Content[i-1].Value != "spec" || p.get(n, "kind") != nil && o.kind != "Pod" {
				p.operated(first)
			}
			continue
		}
		p.object(v, o, depth+1)
	}
}

// operated are containers that are no pod's spec, but an operator adds them: next to them are the resources of its own
// container, and not those of the pod.
func (p *pods) operated(first int) {
	for _, k := range p.into.containers[first:] {
		k.podCPU = amounts{}
		k.incomplete()
	}
}

// steps takes the steps of a Task of Tekton, each with what the stepTemplate has: all, if that has a limit or a variable of
// the Go runtime.
func (p *pods) steps(all []*yaml.Node, template *yaml.Node, o *object) {
	t := p.container(template, nil, nil, o)
	t.incomplete()
	if !t.isGo && t.cpu.limit.none() {
		all = slices.DeleteFunc(all, func(step *yaml.Node) bool { return !p.isContainer(step, o) })
	}
	before := len(p.into.containers)
	p.pod(o.meta, mapping("containers", list(all...)), o)
	for _, k := range p.into.containers[before:] {
		for name, f := range t.fields {
			if _, own := k.fields[name]; !own {
				k.fields[name] = f
			}
		}
		k.image, k.partial = cmp.Or(k.image, t.image), k.partial && t.partial
		k.cpu.limit = cmp.Or(k.cpu.limit, t.cpu.limit)
		k.envFrom, k.isGo = slices.Concat(t.envFrom, k.envFrom), k.isGo || t.isGo
	}
}

// valuesOf are kinds that hold values for a chart, which may have the shape of containers.
var valuesOf = []string{"HelmRelease", "HelmChart", "HelmChartConfig", "Application", "ApplicationSet"}

// isContainer tells one by its shape, as in custom resources: an image or variables next to
// resources, or GOMAXPROCS among the variables or in the text that it runs.
func (p *pods) isContainer(n *yaml.Node, o *object) bool {
	if slices.Contains(valuesOf, o.kind) {
		return false
	}
	env := slices.DeleteFunc(p.items(n, "env"), func(e *yaml.Node) bool { return p.str(e, "name") == "" })
	resources := false
	for _, key := range resourceKeys {
		resources = resources || p.at(n, key, "limits") != nil || p.at(n, key, "requests") != nil
	}
	named := slices.ContainsFunc(env, func(e *yaml.Node) bool { return p.str(e, "name") == variableName })
	image := p.str(n, "image") != ""
	return named || resources && (len(env) > 0 || image) ||
		image && slices.ContainsFunc(scriptKeys, func(key string) bool { return strings.Contains(p.str(n, key), variableName) })
}

// isPodSpec tells it by its containers, which all have a name or an image.
func (p *pods) isPodSpec(n *yaml.Node) bool {
	list := p.items(n, "containers")
	return len(list) > 0 && !slices.ContainsFunc(list, func(c *yaml.Node) bool { return p.str(c, "name") == "" && p.str(c, "image") == "" })
}

// In the order in which they start.
var containerLists = []string{"initContainers", "containers", "ephemeralContainers"}

func (p *pods) pod(meta, spec *yaml.Node, o *object) {
	annotations := map[string]string{}
	for _, e := range p.entries(p.get(meta, "annotations")) {
		annotations[e.key.Value] = e.value.Value
	}
	for key, value := range annotations {
		suffix, ok := strings.CutPrefix(key, annotationIgnore)
		if !ok || suffix != "" && suffix[0] != '.' {
			continue
		}
		at := p.entry(p.get(meta, "annotations"), key, 0).key
		rules, reason := check.ParseIgnoreList(value)
		p.to.Ignore(check.Ignore{
			Place: p.place(at, o), Rules: rules, Reason: reason, Object: o.String(), Container: strings.TrimPrefix(suffix, "."),
		})
	}
	byName := map[string]*yaml.Node{}
	for _, list := range containerLists {
		for _, c := range p.items(spec, list) {
			byName[p.str(c, "name")] = c
		}
	}
	for _, list := range containerLists {
		for i, c := range p.items(spec, list) {
			if p.left < 0 {
				return
			}
			k := p.container(c, spec, byName, o)
			if k.partial || spec.Line == 0 {
				k.incomplete()
			}
			k.stays = list == "containers" || list == "initContainers" && p.str(c, "restartPolicy") == "Always"
			k.injects = p.injects(meta)
			p.around(k, spec, annotations)
			name := k.at.Container
			if name == "" && spec.Line > 0 { // as in services of Knative, not in what is only like a container
				k.at.Container = fmt.Sprintf("%s[%d]", list, i)
			}
			if v, ok := annotations[AnnotationGo+"."+name]; ok {
				p.version(k, v, AnnotationGo+"."+name)
			} else if v, ok := annotations[AnnotationGo]; ok {
				p.version(k, v, AnnotationGo)
			}
			p.expected(k, annotations, len(p.items(spec, "containers")) == 1)
			p.into.containers = append(p.into.containers, k)
		}
	}
}

// plainClasses are handlers of a runtimeClassName that are not a sandbox.
var plainClasses = []string{"runc", "crun", "youki", "nvidia", "nvidia-cdi", "nvidia-legacy"}

// Sandboxed reports whether a runtimeClassName may run its containers in a sandbox or a virtual machine.
func Sandboxed(class string) bool { return class != "" && !slices.Contains(plainClasses, class) }

// injectors are annotations by which a webhook adds variables that the file does not have.
var injectors = []string{"instrumentation.opentelemetry.io/inject", "vault.security.banzaicloud.io/", "secrets-webhook.security.bank-vaults.io/"}

func (p *pods) around(k *container, spec *yaml.Node, annotations map[string]string) {
	if class := p.str(spec, "runtimeClassName"); Sandboxed(class) {
		k.doubt(counts, "the sandbox of the runtime class %s has another number of CPUs", class)
	}
	if k.object.cloudRun {
		k.doubt(counts, "the sandbox of Cloud Run has another number of CPUs")
	}
	system := p.str(spec, "os", "name")
	for _, label := range []string{"kubernetes.io/os", "beta.kubernetes.io/os"} {
		system = cmp.Or(system, p.str(spec, "nodeSelector", label))
	}
	if k.windows = system == "windows"; k.windows {
		k.doubt(counts, "Windows gives it another number of CPUs")
	}
	if k.varies = p.ytt; p.ytt {
		k.doubt(replaces, "ytt fills another one in")
	}
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if slices.ContainsFunc(injectors, func(by string) bool { return strings.HasPrefix(key, by) }) {
			k.doubt(sets, "the webhook of the annotation %s sets GOMAXPROCS", key)
			break
		}
	}
}

// expected takes an annotation. One without a container is of that of its program, or of the only
// one.
func (p *pods) expected(k *container, annotations map[string]string, only bool) {
	text, own := annotations[expected.Annotation+"."+k.at.Container]
	if !own {
		text = annotations[expected.Annotation]
	}
	if text == "" || !k.stays {
		return
	}
	e, err := expected.Parse([]byte(text))
	use := check.Use{Image: k.image, Name: k.at.Container, Command: k.command}
	switch {
	case err != nil:
		k.expectedWrong = "annotation " + expected.Annotation + ": " + err.Error()
	case own, only, e.Program == "", use.IsCalled(e.Program):
		k.expected, k.isGo = e, true
	}
}

func (p *pods) version(k *container, v, key string) {
	known := check.Program{GoVersion: "go" + strings.TrimPrefix(v, "go"), From: "annotation " + key}
	if err := known.Check(); err != nil {
		p.to.Problem(check.Problem{Path: k.at.Path, Line: k.at.Line, Message: "annotation " + key + ": " + err.Error()})
		return
	}
	k.program = known
}

func (p *pods) forCloudRun(n *yaml.Node) bool {
	const domain = "run.googleapis.com/"
	if strings.HasPrefix(p.str(n, "apiVersion"), domain) {
		return true
	}
	annotations := append(p.entries(p.at(n, "metadata", "annotations")), p.entries(p.at(n, "spec", "template", "metadata", "annotations"))...)
	return slices.ContainsFunc(annotations, func(e entry) bool { return strings.HasPrefix(e.key.Value, domain) })
}

func (p *pods) rendered(n *yaml.Node) string {
	switch {
	case p.text.path == check.Stdin:
		return "standard input"
	case p.str(n, "metadata", "labels", "helm.sh/chart") != "", p.str(n, "metadata", "labels", "app.kubernetes.io/managed-by") == "Helm":
		return "a chart"
	case p.str(n, "metadata", "annotations", "config.kubernetes.io/origin") != "":
		return "Kustomize"
	}
	d := p.text.docs[p.doc]
	if strings.Contains(string(p.text.bytes[d.from:min(d.to, d.from+300)]), "\n# Source: ") {
		return "a chart"
	}
	return ""
}

func (p *pods) configData(n *yaml.Node) map[string]string {
	data := map[string]string{}
	for _, e := range p.entries(p.get(n, "data")) {
		if e.value.Kind == yaml.ScalarNode && len(e.value.Value) <= longestData {
			data[e.key.Value] = e.value.Value
		}
	}
	return data
}

// refusedData finds a ConfigMap that the API server rejects, as its data have to be strings.
func (p *pods) refusedData(n *yaml.Node, o *object) {
	data := p.entries(p.get(n, "data"))
	if !slices.ContainsFunc(data, func(e entry) bool { return runtimeVariables[e.key.Value] }) {
		return
	}
	for _, e := range data {
		if e.value.Kind == yaml.ScalarNode && (e.value.Tag == "!!str" || e.value.Tag == "!!null") {
			continue
		}
		p.to.Finding(check.NewFinding("PF016", p.place(e.key, o), fmt.Sprintf("the API server rejects the manifest: data.%.60s is not a string", e.key.Value), "write the value in quotes"))
		return // one is enough for the server
	}
}

// longestData is the longest entry of a ConfigMap that can be a variable worth a look.
const longestData = 1024

// defaults are what a LimitRange gives containers that name no amount of CPU
// (k8s.io/kubernetes, SetDefaults_LimitRangeItem).
func (p *pods) defaults(n *yaml.Node) (limit, request quantity) {
	for _, item := range p.items(n, "spec", "limits") {
		if p.str(item, "type") != "Container" {
			continue
		}
		of := func(key string) quantity {
			q, _ := parseQuantity(p.str(item, key, "cpu")) // one that is not valid is none
			return q
		}
		limit = cmp.Or(of("default"), of("max"), limit)
		request = cmp.Or(of("defaultRequest"), limit, of("min"))
	}
	return limit, request
}
