package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/program/ready"
	"github.com/procfit/procfit/test/must"
)

// named are texts with a variable, by the field that takes them, where the name alone is none.
var named = map[string]string{
	"env": "A={env:X}", "ready": "true {env:X}", "vary": "A={env:X},b", "metric": "rate={env:X}=([0-9]+)",
	"header": "A: {env:X}", "timeout": "ready=1s", "tls": "name={env:X}", "url": "http://h/{env:X}",
	"profile": "http://h/{env:X}/debug/pprof/", "load": "wrk {env:X}", "prepare": "rm {env:X}", "beside": "./x {env:X}",
}

// Whatever a program or a server gets has the values of its variables: each field is given a
// variable, and where one is left, procfit itself goes by the name.
func TestFilled(t *testing.T) {
	own := []string{"Name", "Target.Build", "Load.TLS.CACert", "Load.GRPC.Proto", "Vary.Values", "Vary.Start"}
	f := NewFlags()
	given := 0
	for _, field := range f.Fields() {
		text, ok := named[field.Name]
		if !ok {
			text = "{env:X}"
		}
		if field.Value.Set(text) == nil && strings.Contains(text, "{env:") {
			given++
		}
	}
	if given < 14 {
		t.Fatalf("only %d fields took a variable", given)
	}
	s := f.Spec
	s.Target.Command, s.Target.Against, s.Target.URL = []string{"a", "{env:X}"}, []string{"b", "{env:X}"}, f.URLs[0]
	s.Target.Beside = &f.Neighbour
	s.Target.Ready = ready.Probe{Way: ready.WayURL, URL: "http://{env:X}/", Command: s.Target.Ready.Command}
	s.Load.Body, s.Load.GRPC = []byte(f.Body), &load.GRPC{Method: f.Call.Method, Data: []byte("{env:X}"), Proto: f.Call.Proto}
	s.Load.Requests = []load.Request{{Path: "/{env:X}", Headers: []string{"A: {env:X}"}, Body: []byte("{env:X}")}}
	before := fmt.Sprintf("%+v", s)
	filled := must.Get(s.Filled(func(string) (string, bool) { return "value", true }))(t)
	if fmt.Sprintf("%+v", s) != before {
		t.Error("the Spec itself is changed")
	}
	for _, path := range leftIn("", reflect.ValueOf(filled)) {
		if !slices.Contains(own, path) {
			t.Errorf("%s has a variable yet", path)
		}
	}
	if m := filled.Load.Metrics[0]; m.Regexp.FindStringSubmatch("value=7") == nil {
		t.Errorf("the metric is sought by %s", m.Regexp)
	}
}

// leftIn are the places of a value that name a variable.
func leftIn(path string, v reflect.Value) (list []string) {
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(v.String(), "{env:") {
			return []string{path}
		}
	case reflect.Pointer, reflect.Interface:
		if v.Type() != reflect.TypeFor[any]() && !v.IsNil() && v.Type().String() != "*regexp.Regexp" {
			return leftIn(path, v.Elem())
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[[]byte]() {
			return leftIn(path, reflect.ValueOf(string(v.Bytes())))
		}
		for i := range v.Len() {
			list = append(list, leftIn(path, v.Index(i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			list = append(list, leftIn(strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), v.Field(i))...)
		}
	}
	return list
}

// A value that its field does not take is refused, and so is a variable that is not set.
func TestNotFilled(t *testing.T) {
	s := Default()
	s.Load.Metrics, s.Target.URL = []load.Metric{must.Get(load.ParseMetric("rate={env:X}([0-9]+)"))(t)}, "http://{env:Y}/"
	for value, want := range map[string]string{"(": "--metric rate: the values of its variables leave no regular expression with a group", "": "the environment variable Y is not set"} {
		got, err := s.Filled(func(name string) (string, bool) { return value, value != "" || name == "X" })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; expected %s", value, err, want)
		}
		if value == "" && got.Target.URL != s.Target.URL {
			t.Errorf("a variable that is not set became %q", got.Target.URL)
		}
	}
}
