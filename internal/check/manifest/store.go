package manifest

import (
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/maxprocs/facts"
)

type store struct {
	mu         sync.Mutex
	containers []*container
	configs    map[string][]*config // by name
	ranges     []limitRange

	autoscalers []autoscaler
	resizers    []resizer

	unread []check.Value // of objects that name GOMAXPROCS and are not understood
}

type config struct {
	object
	data    map[string]string
	partial bool // some of its data are not read
}

type limitRange struct {
	object
	limit, request quantity
}

func newStore() *store { return &store{configs: map[string][]*config{}} }

// configFor is the ConfigMap in the object's file, else in its folder, else the only one.
func (s *store) configFor(o *object, name string) (c *config, why string) {
	switch found := nearby(s.configs[name], o, func(c *config) *object { return &c.object }); len(found) {
	case 0:
		return nil, "ConfigMap " + name + " is not among the files"
	case 1:
		return found[0], ""
	}
	return nil, "there are several ConfigMaps " + name
}

// nearby are those of the object's namespace in its file, else in its folder, else all.
func nearby[T any](all []T, to *object, of func(T) *object) []T {
	within := func(one T) bool { // a namespace may be left to kubectl
		o := of(one)
		return o.namespace == to.namespace || o.namespace == "" || to.namespace == ""
	}
	return preferred(all,
		func(one T) bool { return of(one).path == to.path && within(one) },
		func(one T) bool { return path.Dir(of(one).path) == path.Dir(to.path) && within(one) },
		within)
}

// preferred are those of a list for which the first condition holds that holds for some of it.
func preferred[T any](all []T, conditions ...func(T) bool) (some []T) {
	for _, holds := range conditions {
		for _, one := range all {
			if holds(one) {
				some = append(some, one)
			}
		}
		if len(some) > 0 {
			break
		}
	}
	return some
}

// rangeFor is the LimitRange of an object's namespace, in its file or folder.
func (s *store) rangeFor(o *object) *limitRange {
	for i := range s.ranges {
		r := &s.ranges[i]
		if r.namespace == o.namespace && path.Dir(r.path) == path.Dir(o.path) {
			return r
		}
	}
	return nil
}

func (s *store) take(own *store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.containers = append(s.containers, own.containers...)
	s.ranges = append(s.ranges, own.ranges...)
	s.autoscalers = append(s.autoscalers, own.autoscalers...)
	s.resizers = append(s.resizers, own.resizers...)
	s.unread = append(s.unread, own.unread...)
	for name, list := range own.configs {
		s.configs[name] = append(s.configs[name], list...)
	}
}

// inOrder puts what the files have in the order of these, whichever was read first.
func (s *store) inOrder() {
	sorting.Stable(s.containers, func(a, b *container) int { return cmp.Compare(a.at.Path, b.at.Path) })
	sorting.Stable(s.ranges, func(a, b limitRange) int { return cmp.Compare(a.path, b.path) })
	sorting.Stable(s.resizers, func(a, b resizer) int { return cmp.Compare(a.path, b.path) })
}

func (s *store) resolve(k *container, nodePods quantity) {
	own := k.effective(k.cpu, s)
	if (!k.partial || k.cpu.limit.amount != nil) && !own.limit.unknown() && !k.windows { // a patch may set the limit itself
		k.written.Requests = own.request.cpus()
		k.limits = []facts.Limit{limitOf(own.limit.cpus(), own.dir)}
		if own.dir != podDir && k.podCPU.limit.positive() {
			k.limits = append(k.limits, limitOf(k.podCPU.limit.cpus(), podDir))
		}
	}
	k.unit.env, k.godebug = variable{}, variable{}
	s.fromSources(k)
	for name, f := range k.fields {
		v := f.variable
		switch {
		case f.reference != nil && v.state == facts.Known:
			v = k.refer(&f, s, nodePods)
		case f.config != nil:
			v = s.fromConfig(k, f)
		}
		if name == "GODEBUG" {
			k.godebug = v
			continue
		}
		k.under, k.unit.env = k.unit.env, v
		k.written.Twice = f.twice
		if f.refused != "" {
			k.written.Refused, k.written.Kubelet, k.written.Quantity = f.refused, f.kubelet, false
		}
	}
	if k.partial {
		k.doubt(sets, "%sthe object that it patches sets GOMAXPROCS", phrase.If(k.removes, "envFrom of ", ""))
	}
	if own.limit.unknown() {
		k.doubt(counts, "%.60q, which is filled in before the manifest is applied, is another CPU limit", own.limit.text)
	}
	k.inCommand()
}

const (
	podDir  = "the pod"
	taskDir = "the task"
)

type effectiveAmounts struct {
	amounts
	dir string
}

// effective are the amounts after defaults. A limit alone is a request too; a container without a
// limit has the pod's in its own group (k8s.io/kubernetes, getCPULimit).
func (k *container) effective(own amounts, s *store) effectiveAmounts {
	e := effectiveAmounts{own, "the container"}
	if r := s.rangeFor(k.object); r != nil {
		if e.limit.none() && r.limit.positive() {
			e.limit, e.dir = r.limit, "LimitRange "+r.name
		}
		if e.request.none() && own.limit.none() {
			e.request = r.request
		}
	}
	e.request = cmp.Or(e.request, e.limit)
	if pod := k.podCPU.limit; !e.limit.positive() && !e.limit.unknown() && (pod.positive() || pod.unknown()) {
		e.limit, e.dir = pod, podDir
	}
	return e
}

// nodePods is the limit of a container without one to a resourceFieldRef (k8s.io/kubernetes,
// MergeContainerResourceLimits); not positive: not known.
func (c *Checker) nodePods(u *unit) quantity {
	pods := ""
	if c.o.Node != nil {
		_, pods = c.o.Node(u.at.Path)
	}
	q, _ := parseQuantity(cmp.Or(pods, strconv.Itoa(c.nodeCPUs(u))))
	return q
}

// refer is the value of a resourceFieldRef, rounded as the kubelet does.
func (k *container) refer(f *field, s *store, nodePods quantity) variable {
	r, v := f.reference, f.variable
	v.source = fmt.Sprintf("env, %s", r.resource)
	of := k.effective(f.of, s)
	amount := of.limit
	kind, what, _ := strings.Cut(r.resource, ".")
	k.written.Resource, k.written.Divisor, k.written.Amount = r.resource, r.divisor, "?"
	k.written.Sibling = r.container != "" && r.container != k.at.Container
	switch {
	case kind != "limits" && kind != "requests" || what != "cpu" && what != "memory":
		f.refused = fmt.Sprintf("resource: %q is neither limits.cpu nor requests.cpu", r.resource)
		return v.unknown("%s", f.refused)
	case what == "memory":
		amount = f.of.limit
	case kind == "requests":
		amount = of.request
	}
	divisor, why := divisorOf(r.divisor, what)
	if why != "" {
		f.refused = why
		return v.unknown("%s", why)
	}
	if what == "cpu" && divisor.cpus() < 1 {
		k.written.Divisor = "1m"
	}
	switch {
	case amount.positive():
		k.written.Amount = amount.text
	case k.partial || what == "memory" || amount.unknown():
		return v.unknown("the amount of %s is not in this file", r.resource)
	case kind == "requests":
		v.value, v.source = "0", v.source+", which is not set"
		return v
	default:
		k.written.Amount = ""
		v.source += ", without a limit the CPUs of the node"
		if !nodePods.positive() {
			return v.unknown("there is no limit, so it becomes the CPUs of the node")
		}
		v.value = strconv.FormatInt(nodePods.ceil(divisor), 10)
		return v
	}
	v.value = strconv.FormatInt(amount.ceil(divisor), 10)
	v.source += " of " + amount.text
	return v
}

// divisorOf is what a resourceFieldRef divides by; none and "0" are 1.
func divisorOf(text, what string) (q quantity, refused string) {
	one, _ := parseQuantity("1")
	if text == "" {
		return one, ""
	}
	q, err := parseQuantity(text)
	if err != nil {
		return q, "divisor: " + err.Error()
	}
	if q.amount.Sign() == 0 {
		return one, ""
	}
	milli, _ := parseQuantity("1m")
	if what == "cpu" && q.amount.Cmp(*one.amount) != 0 && q.amount.Cmp(*milli.amount) != 0 {
		return q, fmt.Sprintf("divisor: %q is not allowed; for CPUs use 1 (whole CPUs) or 1m (thousandths)", text)
	}
	if !q.positive() {
		return q, fmt.Sprintf("divisor: %q is below zero", text)
	}
	return q, ""
}

// fromSources takes envFrom: of several the last counts, and env goes before.
func (s *store) fromSources(k *container) {
	for _, from := range k.envFrom {
		at := variable{source: "ConfigMap " + from.name, config: from.name, line: from.line, column: from.column, last: from.line}
		mayHold := strings.HasPrefix(variableName, from.prefix)
		if from.secret {
			if mayHold {
				k.doubtSource("Secret %s sets GOMAXPROCS", from.name)
			}
			continue
		}
		c, why := s.configFor(k.object, from.name)
		if c == nil && mayHold {
			k.doubtSource("ConfigMap %s sets GOMAXPROCS (%s)", from.name, why)
		}
		if c == nil {
			continue
		}
		if c.partial && mayHold {
			k.doubtSource("ConfigMap %s sets GOMAXPROCS (its files are not read)", from.name)
		}
		for name := range runtimeVariables {
			key, ok := strings.CutPrefix(name, from.prefix)
			value, set := c.data[key]
			if !ok || !set {
				continue
			}
			at.state, at.value = facts.Known, value
			k.set(name, at.filledIn(true))
		}
	}
}

func (s *store) fromConfig(k *container, f field) variable {
	v := f.variable
	v.source, v.config = "env, ConfigMap "+f.config.name, f.config.name
	c, why := s.configFor(k.object, f.config.name)
	if c == nil {
		return v.unknown("%s", why)
	}
	value, ok := c.data[f.config.key]
	if !ok {
		return v.unknown("ConfigMap %s has no key %s", f.config.name, f.config.key)
	}
	v.value = value
	return v.filledIn(true)
}
