package load

import (
	"fmt"

	"github.com/procfit/procfit/internal/show/secret"
)

// Failure is one failure in full; the zero value is none.
type Failure struct {
	Kind   Kind
	URL    string
	Detail string // what the kernel said or what was wrong with the answer; may be empty
}

func (f Failure) String() string {
	address := secret.Text(f.URL)
	switch {
	case f.Kind == "":
		return ""
	case f.Detail == "":
		return fmt.Sprintf("%s: %s", address, f.Kind.Words())
	}
	return fmt.Sprintf("%s: %s: %s", address, f.Kind.Words(), f.Detail)
}
