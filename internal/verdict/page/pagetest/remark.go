package pagetest

import (
	"reflect"
	"strconv"
)

// Example is a remark of a type with something in each of its fields, which can be set.
func Example(of reflect.Type, bools bool) reflect.Value {
	v := reflect.New(of).Elem()
	fill(v, 2, bools)
	return v
}

// fill puts n into every number and text of a value, and two into every list.
func fill(v reflect.Value, n int, bools bool) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(bools)
	case reflect.String:
		v.SetString(strconv.Itoa(n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(n))
	case reflect.Float64:
		v.SetFloat(float64(n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n, bools)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n, bools)
		fill(v.Index(1), n+1, bools)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n, bools)
		}
	}
}
