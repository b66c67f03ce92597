package plan

import (
	"fmt"
	"strings"
)

// FieldError is what is wrong with one field of a Spec.
type FieldError struct {
	Field string // its name, as in Fields; "command" is the program's own, which has no flag
	// Reason follows the field's name in a sentence: ` 0: want at least 1`,
	// `: no command`.
	Reason string
	Err    error // the cause, if there is one
}

// Error names the flag; the command has none.
func (e *FieldError) Error() string {
	if e.Field == "command" {
		return strings.TrimPrefix(e.Reason, ": ")
	}
	return "--" + e.Field + e.Reason
}

func (e *FieldError) Unwrap() error { return e.Err }

// Wrong makes a FieldError; the text follows the field's name.
func Wrong(field, format string, args ...any) *FieldError {
	return &FieldError{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// WrongBy is a FieldError with its cause.
func WrongBy(field string, err error) *FieldError {
	return &FieldError{Field: field, Reason: ": " + err.Error(), Err: err}
}
