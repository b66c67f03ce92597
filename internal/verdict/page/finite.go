package page

import (
	"math"
	"reflect"

	"github.com/procfit/procfit/internal/verdict"
)

// finite is a copy of a Result without NaN and infinities, which neither JSON nor
// an axis can hold: the nearest pointer above one becomes nil, since absent is
// null; one with no pointer above it becomes 0.
func finite(r *verdict.Result) *verdict.Result {
	c, _ := finiteCopy(reflect.ValueOf(*r))
	out := c.Interface().(verdict.Result)
	return &out
}

// finiteCopy reports false when the copy had to replace a value that no pointer
// within it could absorb.
func finiteCopy(v reflect.Value) (reflect.Value, bool) {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	ok := true
	switch v.Kind() {
	case reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			out.SetFloat(0)
			ok = false
		}
	case reflect.Pointer:
		if v.IsNil() {
			break
		}
		c, good := finiteCopy(v.Elem())
		if !good {
			out.SetZero()
			break
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(c)
		out.Set(p)
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() { // time.Time: holds no float
				continue
			}
			c, good := finiteCopy(v.Field(i))
			out.Field(i).Set(c)
			ok = ok && good
		}
	case reflect.Slice:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			c, good := finiteCopy(v.Index(i))
			out.Index(i).Set(c)
			ok = ok && good
		}
	case reflect.Map:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeMap(v.Type()))
		for _, k := range v.MapKeys() {
			c, good := finiteCopy(v.MapIndex(k))
			out.SetMapIndex(k, c)
			ok = ok && good
		}
	}
	return out, ok
}
