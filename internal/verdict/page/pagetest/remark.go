package pagetest

import (
	"reflect"

	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// Example is a remark of a type with something in each of its fields, which can be set: two in
// numbers, that text, all its flags or none.
func Example(of reflect.Type, text string, flags bool) reflect.Value {
	v := reflect.New(of).Elem()
	fill(v, 2, text, flags)
	return v
}

// fill puts n into every number of a value, and two into every list.
func fill(v reflect.Value, n int, text string, flags bool) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(flags)
	case reflect.String:
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Float64:
		v.SetFloat(float64(n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n, text, flags)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n, text, flags)
		fill(v.Index(1), n+1, text, flags)
	case reflect.Struct:
		if value, is := v.Addr().Interface().(*contest.Value); is { // which is its name and its levels here
			level := stat.Interval{Median: new(float64(n)), N: n}
			*value = contest.Value{Setting: text, Procs: n, Unset: flags, Default: flags, Throughput: level, P99: level}
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), n, text, flags)
		}
	}
}
