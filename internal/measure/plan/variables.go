package plan

import (
	"regexp"
	"slices"
)

// variableForm is a variable of procfit's own environment in a text of a Spec: {env:NAME}.
// A Spec, and so a journal, holds its name; only a Runner's Spec has its value.
var variableForm = regexp.MustCompile(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)

// Variable is the form in which a Spec names a variable of procfit's environment.
func Variable(name string) string { return "{env:" + name + "}" }

// Variables are the names of the variables in a Spec, each once, sorted.
func (s Spec) Variables() (names []string) {
	s.mapped(func(text string) string {
		for _, m := range variableForm.FindAllStringSubmatch(text, -1) {
			names = append(names, m[1])
		}
		return text
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// Filled is the Spec with the values of its variables, as a Runner takes it. What lookup
// does not know stays as it is.
func (s Spec) Filled(lookup func(name string) (value string, ok bool)) Spec {
	return s.mapped(func(text string) string {
		return variableForm.ReplaceAllStringFunc(text, func(found string) string {
			if value, ok := lookup(variableForm.FindStringSubmatch(found)[1]); ok {
				return value
			}
			return found
		})
	})
}

// mapped is a copy of the Spec with its texts changed: those that go to a program or a
// server, and not what procfit itself goes by.
func (s Spec) mapped(change func(string) string) Spec {
	t, l := &s.Target, &s.Load
	for _, list := range []*[]string{&t.Command, &t.Against, &t.Env, &t.Prepare, &t.Ready.Command, &l.Headers} {
		*list = changed(*list, change)
	}
	for _, text := range []*string{&t.URL, &t.Ready.URL, &l.Command, &s.Profile} {
		*text = change(*text)
	}
	l.Body = changedBytes(l.Body, change)
	if b := t.Beside; b != nil {
		t.Beside = &Neighbour{Command: changed(b.Command, change), Quota: b.Quota, Shares: b.Shares}
	}
	if l.GRPC != nil {
		call := *l.GRPC
		call.Data = changedBytes(call.Data, change)
		l.GRPC = &call
	}
	l.Requests = slices.Clone(l.Requests)
	for i := range l.Requests {
		r := &l.Requests[i]
		r.Path, r.Headers, r.Body = change(r.Path), changed(r.Headers, change), changedBytes(r.Body, change)
	}
	return s
}

func changed(list []string, change func(string) string) []string {
	list = slices.Clone(list)
	for i, text := range list {
		list[i] = change(text)
	}
	return list
}

func changedBytes(b []byte, change func(string) string) []byte {
	if !variableForm.Match(b) {
		return b
	}
	return []byte(change(string(b)))
}
