package plan

import (
	"bytes"
	"slices"

	"github.com/procfit/procfit/internal/spec"
)

// Variables are the names of the variables in a Spec, each once, sorted. A Spec has only
// their names; that of a Runner has their values.
func (s Spec) Variables() (names []string) {
	s.mapped(func(text string) string {
		names = append(names, spec.Variables(text)...)
		return text
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// Filled is the Spec with the values of its variables, as a Runner takes it. What lookup
// does not know stays as it is.
func (s Spec) Filled(lookup func(name string) (value string, ok bool)) Spec {
	return s.mapped(func(text string) string {
		return spec.Replace(text, func(name string) string {
			if value, ok := lookup(name); ok {
				return value
			}
			return spec.Variable(name)
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
	if !bytes.Contains(b, []byte("{env:")) {
		return b
	}
	return []byte(change(string(b)))
}
