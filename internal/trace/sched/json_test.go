package sched

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedFields: docs/reference/trace.md names every field of a summary and its
// readings.
func TestDocumentedFields(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/reference/trace.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[reflect.Type]bool)
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" {
				continue
			}
			if name != "" && !regexp.MustCompile("[`{ .]"+regexp.QuoteMeta(name)+"(\\[\\])?[`,}]").Match(doc) {
				t.Errorf("%s.%s: %q is not in docs/reference/trace.md", of.Name(), f.Name, name)
			}
			walk(f.Type)
		}
	}
	walk(reflect.TypeFor[Summary]())
	walk(reflect.TypeFor[Reading]())
}
