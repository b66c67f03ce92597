package plan

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/spec"
)

// Filled is the Spec with the values of its variables, as a Runner takes it. The Spec itself
// has only their names, and so has every record. One that is not set stays, and is a
// *spec.UnsetError; a *FieldError is that a value is not what its field takes.
func (s Spec) Filled(lookup func(name string) (value string, ok bool)) (Spec, error) {
	var errs []error
	fill := func(texts ...*string) {
		errs = append(errs, spec.Fill(lookup, texts...))
	}
	list := func(texts *[]string) {
		*texts = slices.Clone(*texts)
		for i := range *texts {
			fill(&(*texts)[i])
		}
	}
	data := func(b *[]byte) {
		if bytes.Contains(*b, []byte("{env:")) {
			text := string(*b)
			fill(&text)
			*b = []byte(text)
		}
	}
	// What a program or a server gets, and not the names that procfit itself goes by.
	t, l := &s.Target, &s.Load
	for _, texts := range []*[]string{&t.Command, &t.Against, &t.Env, &t.Prepare, &t.Ready.Command, &l.Headers} {
		list(texts)
	}
	fill(&t.URL, &t.Ready.URL, &l.Command, &l.TLS.ServerName, &s.Profile)
	data(&l.Body)
	if b := t.Beside; b != nil {
		t.Beside = &Neighbour{Command: b.Command, Quota: b.Quota, Shares: b.Shares}
		list(&t.Beside.Command)
	}
	if l.GRPC != nil {
		l.GRPC = new(*l.GRPC)
		fill(&l.GRPC.Method)
		data(&l.GRPC.Data)
	}
	l.Requests = slices.Clone(l.Requests)
	for i := range l.Requests {
		r := &l.Requests[i]
		fill(&r.Path)
		list(&r.Headers)
		data(&r.Body)
	}
	l.Metrics = slices.Clone(l.Metrics)
	for i, m := range l.Metrics { // what they are sought in is what a program prints
		text := m.Text
		if fill(&text); text == m.Text {
			continue
		}
		filled, err := load.ParseMetric(text)
		if err != nil { // which would quote the values
			errs = append(errs, Wrong("metric", " %s: the values of its variables leave no regular expression with a group", m.Name))
			continue
		}
		l.Metrics[i] = filled
	}
	return s, cmp.Or(errs...)
}
