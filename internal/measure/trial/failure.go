package trial

import (
	"errors"
	"fmt"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// Failure is why a trial proves nothing.
type Failure struct {
	Code   journal.InvalidCode
	Reason string
}

func (f *Failure) Error() string { return f.Reason }

// Invalid makes a Failure.
func Invalid(code journal.InvalidCode, format string, args ...any) error {
	return &Failure{code, fmt.Sprintf(format, args...)}
}

// Settle makes the trial valid, or invalid where err is a Failure. Any other error
// is returned: then there is no trial.
func Settle(t *journal.Trial, err error) error {
	var f *Failure
	switch {
	case err == nil:
		t.Valid = true
	case errors.As(err, &f):
		t.Valid, t.InvalidCode, t.InvalidReason = false, f.Code, f.Reason
	default:
		return err
	}
	return nil
}

func warn(t *journal.Trial, w journal.Warning) { t.Warnings = append(t.Warnings, w) }
