package manifest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/expected"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

// Chosen is a container of a Kubernetes manifest that somebody wants a value for.
type Chosen struct {
	Value check.Value // that it gets now

	path   string
	text   []byte
	of     *container
	pod    int // how many containers its pod has
	report *check.Report
}

// Choose takes an object, as Deployment/api or api, and a container; "" is the only one.
func Choose(ctx context.Context, path string, text []byte, object, name string) (*Chosen, error) {
	c := New(Options{Programs: &check.Programs{}})
	f := check.NewFile(path, text)
	f.Named = true
	r, err := check.Run(ctx, check.Options{Files: []*check.File{f}, Checkers: []check.Checker{c}})
	if err != nil {
		return nil, err
	}
	if len(r.Problems) > 0 {
		p := r.Problems[0]
		if p.Line == 0 {
			return nil, errors.New(p.Message)
		}
		return nil, fmt.Errorf("line %d: %s", p.Line, p.Message)
	}
	var all, found []*container
	for _, k := range c.store.containers {
		if !k.stays {
			continue
		}
		all = append(all, k)
		if isCalled(k.object, object) && (name == "" || k.at.Container == name) {
			found = append(found, k)
		}
	}
	switch {
	case len(r.Notes) > 0 && len(all) == 0:
		return nil, errors.New(r.Notes[0].Message)
	case len(all) == 0:
		return nil, errors.New("it has no container of Kubernetes")
	case len(found) == 0:
		return nil, fmt.Errorf("it has no %s; it has %s", asked(object, name), listed(all))
	case len(found) > 1:
		return nil, fmt.Errorf("it has several: %s; name one with object and container", listed(found))
	}
	x := &Chosen{path: path, text: text, of: found[0], report: r}
	for _, k := range all {
		if k.object == x.of.object {
			x.pod++
		}
	}
	i := slices.IndexFunc(r.Values, func(v check.Value) bool { return v.Place == x.of.at })
	if i < 0 {
		return nil, errors.New("two of its containers have the same name and place")
	}
	x.Value = r.Values[i]
	return x, nil
}

var shortKinds = map[string]string{"deploy": "deployment", "sts": "statefulset", "ds": "daemonset", "po": "pod", "cj": "cronjob"}

// isCalled takes Deployment/api and api; the empty text means any.
func isCalled(o *object, text string) bool {
	kind, name, ok := strings.Cut(text, "/")
	if !ok {
		return text == "" || text == o.name
	}
	kind = strings.ToLower(kind)
	if long := shortKinds[kind]; long != "" {
		kind = long
	}
	is := strings.ToLower(o.kind)
	return name == o.name && (kind == is || kind == is+"s")
}

func asked(object, name string) string {
	var words []string
	if object != "" {
		words = append(words, "object "+phrase.Clip(object, 60))
	}
	if name != "" {
		words = append(words, "container "+phrase.Clip(name, 60))
	}
	return strings.Join(words, " with a ")
}

func listed(all []*container) string {
	return phrase.Semicolons(phrase.Each(all, func(k *container) string { return phrase.Clean(k.object.String() + ", container " + k.at.Container) }))
}

// Set writes the value and its annotation, if the changed text gives it and no new finding.
func (x *Chosen) Set(ctx context.Context, e rule.Expected) ([]byte, error) {
	if by := x.of.object.rendered; by != "" {
		return nil, fmt.Errorf("%s renders it: change its source", by)
	}
	after := x
	for _, one := range []func(*editor, *container) (*edit, error){unsetReference, setLiteral(e), x.annotate(e)} {
		text, err := after.edited(one)
		if err != nil {
			return nil, err
		}
		if after, err = Choose(ctx, x.path, text, x.of.object.kind+"/"+x.of.object.name, x.of.at.Container); err != nil {
			return nil, fmt.Errorf("after the change %w", err)
		}
	}
	if after.Value.Procs == nil || *after.Value.Procs != e.Procs {
		return nil, fmt.Errorf("with GOMAXPROCS=%d in it, it would use %s", e.Procs, after.Value.Text)
	}
	added := after.report.Added(x.report)
	if i := slices.IndexFunc(added, func(f check.Finding) bool { return f.Severity != rule.Info }); i >= 0 {
		return nil, fmt.Errorf("with GOMAXPROCS=%d in it, procfit check would report %s: %s", e.Procs, added[i].Rule, added[i].Message)
	}
	return after.text, nil
}

func (x *Chosen) edited(one func(*editor, *container) (*edit, error)) ([]byte, error) {
	e := editorOf(x.of, parse(x.path, x.text))
	if e == nil {
		return nil, errors.New("the container is written as an alias: write it out")
	}
	edit, err := one(e, x.of)
	if err != nil || edit == nil {
		return x.text, err
	}
	return check.Apply(x.text, edit.splices)
}

var errForm = errors.New("its form is not one that procfit can change safely: set GOMAXPROCS by hand")

func unsetReference(e *editor, k *container) (*edit, error) {
	switch f, written := k.fields["GOMAXPROCS"]; {
	case k.unit.env.source == sourceCommand:
		return nil, errors.New("its command sets GOMAXPROCS: change the command")
	case !written, f.twice, f.reference == nil && f.config == nil && f.state == facts.Known:
		return nil, nil
	case f.reference == nil:
		return nil, fmt.Errorf("its GOMAXPROCS comes from elsewhere (%s): change it there", k.unit.env.source)
	default:
		if x := e.removeItem(e.index(f.variable)); e.proven(x) {
			return x, nil
		}
	}
	return nil, errForm
}

func setLiteral(expected rule.Expected) func(*editor, *container) (*edit, error) {
	return func(e *editor, k *container) (*edit, error) {
		value := fmt.Sprint(expected.Procs)
		f, written := k.fields["GOMAXPROCS"]
		var x *edit
		switch {
		case written && f.twice:
			return nil, errors.New("it has GOMAXPROCS twice: remove one")
		case written && f.refused == bothValues:
			return nil, errors.New("its GOMAXPROCS has a value and a valueFrom: remove one")
		case written && f.value == value && f.refused == "":
			return nil, nil
		case written:
			x = k.write(f, value, nil).edit(e)
		default:
			x = e.addVariable(variableOf(value))
		}
		if !e.proven(x) {
			return nil, errForm
		}
		return x, nil
	}
}

// mostKey is how long the name in the key of an annotation may be in Kubernetes.
const mostKey = 63

// annotate writes that of the container alone if the pod has several, or such an annotation.
func (x *Chosen) annotate(of rule.Expected) func(*editor, *container) (*edit, error) {
	return func(e *editor, k *container) (*edit, error) {
		if len(e.steps) < 3 { // the pod's spec is all there is
			return nil, errors.New("it has no place for the annotation " + expected.Annotation)
		}
		steps := e.steps[:len(e.steps)-3]
		pod := &editor{text: e.text, doc: e.doc, steps: steps, node: nodeAt(e.doc.root, steps...)}
		key, own := expected.Annotation, expected.Annotation+"."+k.at.Container
		meta, _ := child(pod.node, "metadata")
		annotations, _ := child(meta, "annotations")
		if old, _ := child(annotations, own); x.pod > 1 || old != nil {
			key = own
		}
		if _, name, _ := strings.Cut(key, "/"); len(name) > mostKey {
			return nil, fmt.Errorf("the annotation %s would have more than the %d characters that Kubernetes allows: give the container a shorter name", key, mostKey)
		}
		edit := pod.setAnnotation(key, string(expected.Text(of)), e.steps[len(e.steps)-3])
		if !pod.proven(edit) {
			return nil, fmt.Errorf("its form is not one in which procfit can write the annotation %s safely: write it by hand", key)
		}
		return edit, nil
	}
}

// setAnnotation takes the number of the key before which the metadata go, if there are none.
func (e *editor) setAnnotation(key, value string, spec step) *edit {
	meta, m := child(e.node, "metadata")
	annotations, a := child(meta, "annotations")
	old, i := child(annotations, key)
	switch {
	case isMerged(e.node, "metadata") || isMerged(meta, "annotations"):
		return nil
	case meta == nil:
		return e.addBefore(e.node, nil, spec, "metadata", mapping("annotations", mapping(key, value)))
	case annotations == nil:
		return e.addBefore(meta, []step{m}, 0, "annotations", mapping(key, value))
	case old == nil:
		return e.addBefore(annotations, []step{m, a}, 0, key, str(value))
	}
	return e.setScalar(old, []step{m, a, i}, value)
}
