package load

import "fmt"

// Failure is one failure in full; the zero value is none.
type Failure struct {
	Kind   Kind
	URL    string
	Detail string // what the kernel said or what was wrong with the answer; may be empty
}

func (f Failure) String() string {
	switch {
	case f.Kind == "":
		return ""
	case f.Detail == "":
		return fmt.Sprintf("%s: %s", f.URL, f.Kind.Words())
	}
	return fmt.Sprintf("%s: %s: %s", f.URL, f.Kind.Words(), f.Detail)
}
