package load

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"

	"github.com/procfit/procfit/internal/show/secret"
)

// Field names an option, as the flag that sets it is named, with the part of the flag's
// value after a space.
type Field string

const (
	FieldURL         Field = "url"
	FieldMethod      Field = "method"
	FieldHeader      Field = "header"
	FieldConnections Field = "connections"
	FieldRate        Field = "rate"
	FieldDuration    Field = "for"
	FieldSettle      Field = "settle"
	FieldTimeout     Field = "timeout request"
	FieldCPUs        Field = "cpus load"
	FieldThreads     Field = "threads"
	FieldStreams     Field = "streams"
	FieldCACert      Field = "tls ca"
	FieldCert        Field = "tls cert"
	FieldKey         Field = "tls key"
	FieldInsecure    Field = "tls insecure"
	FieldServerName  Field = "tls name"
	FieldGRPC        Field = "grpc"
	FieldBody        Field = "body"
	FieldProto       Field = "proto"
	FieldRequests    Field = "requests" // of a mix
	FieldPace        Field = "pace"
)

// FieldError is an option that cannot be carried out.
type FieldError struct {
	Field  Field
	Value  string // as it was given, without what may be a credential; empty where none was
	Reason string // without the field and the value
	// Beyond reports that the value is sound, and another generator may do what this
	// engine does not.
	Beyond bool
	Err    error // the cause, if there is one
}

func (e *FieldError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%s: %s", e.Field, e.Reason)
	}
	return fmt.Sprintf("%s %q: %s", e.Field, e.Value, e.Reason)
}

func (e *FieldError) Unwrap() error { return e.Err }

// invalid is an option that no generator would take.
func invalid(f Field, value, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &FieldError{Field: f, Value: shown(f, value), Reason: err.Error(), Err: errors.Unwrap(err)}
}

// beyond is an option that is sound and not for this engine.
func beyond(f Field, value, format string, args ...any) error {
	return &FieldError{Field: f, Value: shown(f, value), Reason: fmt.Sprintf(format, args...), Beyond: true}
}

// shown is a value as a message may have it: logs of CI keep messages.
func shown(f Field, value string) string {
	if f == FieldHeader {
		return secret.Header(value)
	}
	return secret.Text(value)
}

// cause is what a URL or a file is wrong in, without its name, which FieldError has.
func cause(err error) error {
	if bad, ok := errors.AsType[*url.Error](err); ok {
		return bad.Err
	}
	if bad, ok := errors.AsType[*fs.PathError](err); ok {
		return bad.Err
	}
	return err
}
