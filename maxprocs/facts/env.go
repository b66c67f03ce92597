package facts

import "os"

func ownEnv(name string) Fact {
	f := Fact{State: Absent, File: "environment"}
	if value, ok := os.LookupEnv(name); ok {
		f.State, f.Raw = Known, value
	}
	return f
}
