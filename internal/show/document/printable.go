package document

import (
	"reflect"

	"github.com/procfit/procfit/internal/show/phrase"
)

// Printable is the document with every text of it fit to be shown: what a journal, a manifest or
// a program has is in it as it came, and moves no cursor. Renderers begin with it.
func (d *Document) Printable() *Document {
	shown := printable(reflect.ValueOf(*d)).Interface().(Document)
	return &shown
}

func printable(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(phrase.Clean(v.String()))
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			break
		}
		of := printable(v.Elem())
		if v.Kind() == reflect.Pointer {
			at := reflect.New(of.Type())
			at.Elem().Set(of)
			of = at
		}
		out.Set(of)
	case reflect.Slice:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(printable(v.Index(i)))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(printable(v.Field(i)))
		}
		if c, is := v.Interface().(Code); is {
			out.FieldByName("Text").SetString(phrase.CleanLines(c.Text))
		}
	}
	return out
}
