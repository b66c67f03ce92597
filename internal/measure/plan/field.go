package plan

import (
	"fmt"
	"strings"
)

// Field names a part of a Spec, as the command line's flags name it.
type Field string

const (
	FieldCommand        Field = "command"
	FieldName           Field = "name"
	FieldAgainst        Field = "against"
	FieldBuild          Field = "build"
	FieldURL            Field = "url"
	FieldEnv            Field = "env"
	FieldPrepare        Field = "prepare"
	FieldBeside         Field = "beside"
	FieldBesideQuota    Field = "beside-quota"
	FieldAttach         Field = "attach"
	FieldTargetCPUs     Field = "server-cpuset"
	FieldReady          Field = "ready"
	FieldReadyTimeout   Field = "ready-timeout"
	FieldGrace          Field = "grace"
	FieldRunTimeout     Field = "trial-timeout"
	FieldConnections    Field = "connections"
	FieldSLO            Field = "slo"
	FieldPrice          Field = "price"
	FieldRate           Field = "rate"
	FieldDuration       Field = "duration"
	FieldWarmup         Field = "warmup"
	FieldMethod         Field = "method"
	FieldHeader         Field = "header"
	FieldBody           Field = "body"
	FieldRequests       Field = "requests"
	FieldPace           Field = "pace"
	FieldRequestTimeout Field = "request-timeout"
	FieldStreams        Field = "streams"
	FieldEngine         Field = "engine"
	FieldGRPC           Field = "grpc"
	FieldData           Field = "data"
	FieldProto          Field = "proto"
	FieldProtoset       Field = "protoset"
	FieldCACert         Field = "cacert"
	FieldCert           Field = "cert"
	FieldKey            Field = "key"
	FieldInsecure       Field = "insecure"
	FieldServerName     Field = "server-name"
	FieldMaxErrors      Field = "max-errors"
	FieldLoad           Field = "load"
	FieldMetric         Field = "metric"
	FieldLoadCPUs       Field = "load-cpuset"
	FieldShared         Field = "shared-cpus"
	FieldProcs          Field = "procs"
	FieldQuota          Field = "quota"
	FieldReplicas       Field = "replicas"
	FieldGoVersions     Field = "go"
	FieldRepeats        Field = "repeats"
	FieldUntil          Field = "until"
	FieldMaxTrials      Field = "max-trials"
	FieldMaxTime        Field = "max-time"
	FieldMargin         Field = "margin"
	FieldMarginP99      Field = "margin-p99"
)

// FieldError is what is wrong with one field of a Spec.
type FieldError struct {
	Field Field
	// Reason follows the field's name in a sentence: ` 0: want at least 1`,
	// `: no command`.
	Reason string
	Err    error // the cause, if there is one
}

func (e *FieldError) Error() string { return e.Of(string(e.Field)) }

// Of is the error where the field is called so; with no name it stands alone.
func (e *FieldError) Of(name string) string {
	if name == "" {
		return strings.TrimPrefix(e.Reason, ": ")
	}
	return name + e.Reason
}
func (e *FieldError) Unwrap() error { return e.Err }

// Wrong makes a FieldError; the text follows the field's name.
func Wrong(f Field, format string, args ...any) *FieldError {
	return &FieldError{Field: f, Reason: fmt.Sprintf(format, args...)}
}

// WrongBy is a FieldError with its cause.
func WrongBy(f Field, err error) *FieldError {
	return &FieldError{Field: f, Reason: ": " + err.Error(), Err: err}
}
