package plan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/verdict/journal"
)

// server is a Spec that is right.
func server() Spec {
	s := Default()
	s.Target.Command = []string{"./server", "-addr", ":{port}"}
	s.Target.URL = "http://127.0.0.1:{port}/"
	return s
}

func batch() Spec {
	s := Default()
	s.Target.Command = []string{"./job"}
	return s
}

func TestValidSpecs(t *testing.T) {
	compile := batch()
	compile.Target.Command = []string{"go", "test", "-c", "-o", "/dev/null", "./..."}
	for name, s := range map[string]Spec{"server": server(), "batch": batch(), "tests that are compiled": compile} {
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each thing that can be wrong is said of the field that it is wrong in.
func TestWrongFields(t *testing.T) {
	for _, c := range []struct {
		of     func() Spec
		change func(*Spec)
		field  Field
		want   string
	}{
		{batch, func(s *Spec) { s.Procs = Procs{} }, FieldProcs, "no value"},
		{batch, func(s *Spec) { s.Repeats = 0 }, FieldRepeats, "0 repeats: at least one"},
		{batch, func(s *Spec) { s.Repeats = 1001 }, FieldRepeats, "at most 1000"},
		{batch, func(s *Spec) { s.Replicas = []int{1, 0} }, FieldReplicas, " 0: want at least 1"},
		{batch, func(s *Spec) { s.Replicas = []int{257} }, FieldReplicas, "at most 256"},
		{batch, func(s *Spec) { s.Margin = 1 }, FieldMargin, "less than 100 %"},
		{batch, func(s *Spec) { s.MarginP99 = 0 }, FieldMarginP99, "more than 0 %"},
		{batch, func(s *Spec) { s.Quotas = []*float64{nil, ptr(0.001)} }, FieldQuota, "smallest quota"},
		{batch, func(s *Spec) { s.Quotas = []*float64{ptr(-1.0)} }, FieldQuota, "above zero"},
		{batch, func(s *Spec) { s.Target.Command = nil }, FieldCommand, "no command"},
		{batch, func(s *Spec) { s.Target.Command = []string{"go", "test", "./..."} }, FieldCommand, "without -bench"},
		{batch, func(s *Spec) { s.Target.Command = []string{"job", "{port}"} }, FieldURL, "no --url to load"},
		{batch, func(s *Spec) { s.Name = " " }, FieldName, "at least one letter"},
		{batch, func(s *Spec) { s.Name = strings.Repeat("ü", 81) }, FieldName, "81 characters: at most 80"},
		{batch, func(s *Spec) { s.Target.Env = []string{"x"} }, FieldEnv, "want NAME=VALUE"},
		{batch, func(s *Spec) { s.Target.Env = []string{"=x"} }, FieldEnv, "no name before"},
		{batch, func(s *Spec) { s.Target.Env = []string{"A=b", "GOMAXPROCS=2"} }, FieldEnv, "--procs"},
		{batch, func(s *Spec) { s.Target.Prepare = []string{""} }, FieldPrepare, "want a command"},
		{batch, func(s *Spec) { s.Target.Beside = &Neighbour{} }, FieldBeside, "want a command"},
		{batch, func(s *Spec) { s.Target.Beside = &Neighbour{Command: []string{"n", ":{port}"}} }, FieldBeside, "no such port"},
		{batch, func(s *Spec) { s.Target.Beside = &Neighbour{Command: []string{"n"}, Quota: ptr(-1.0)} }, FieldBesideQuota, "above zero"},
		{batch, func(s *Spec) { s.Target.Beside = &Neighbour{Command: []string{"n"}, Quota: ptr(0.001)} }, FieldBesideQuota, "smallest quota"},
		{batch, func(s *Spec) { s.GoVersions = []string{"1.24"} }, FieldGoVersions, "needs --build"},
		{batch, func(s *Spec) { s.Load.Command = "wrk {url}" }, FieldLoad, "needs --url"},
		{server, func(s *Spec) { s.Target.Command = nil }, FieldURL, "no command"},
		{server, func(s *Spec) { s.Target.Prepare = []string{"x"} }, FieldPrepare, "batch programs"},
		{server, func(s *Spec) { s.Target.RunTimeout = time.Second }, FieldRunTimeout, "batch programs"},
		{server, func(s *Spec) { s.Target.URL = "127.0.0.1:{port}" }, FieldURL, "want an address"},
		{server, func(s *Spec) { s.Target.URL = "ftp://127.0.0.1:{port}/" }, FieldURL, "not ftp; --load takes another"},
		{server, func(s *Spec) { s.Target.Command = []string{"./server"} }, FieldURL, "neither the command nor --env has"},
		{server, func(s *Spec) {
			s.Target.Command, s.Target.URL, s.Replicas = []string{"./server"}, "http://h/", []int{1, 2}
		}, FieldReplicas, "needs {port}"},
		{server, func(s *Spec) { s.Target.ReadyTimeout = 0 }, FieldReadyTimeout, "above zero"},
		{server, func(s *Spec) { s.Target.Grace = -1 }, FieldGrace, "want a time"},
		{server, func(s *Spec) { s.Load.Duration = 0 }, FieldDuration, "above zero"},
		{server, func(s *Spec) { s.Load.Warmup = -1 }, FieldWarmup, "want a time"},
		{server, func(s *Spec) { s.Load.RequestTimeout = 0 }, FieldRequestTimeout, "above zero"},
		{server, func(s *Spec) { s.Load.Connections = 0 }, FieldConnections, "at least 1"},
		{server, func(s *Spec) { s.Load.MaxErrors = 0 }, FieldMaxErrors, "above zero"},
		{server, func(s *Spec) { s.Load.Headers = []string{"nocolon"} }, FieldHeader, "no colon"},
		{server, func(s *Spec) { s.Load.Method = "G T" }, FieldMethod, "not an HTTP method"},
		{server, func(s *Spec) { s.Load.Command = "wrk {speed}" }, FieldLoad, "unknown placeholder"},
		{server, func(s *Spec) { s.Load.Command, s.Load.Method = "wrk {url}", "PUT" }, FieldLoad, "procfit's own load"},
		{server, func(s *Spec) { s.Load.Command, s.Replicas = "wrk {url}", []int{2} }, FieldLoad, "{urls}"},
	} {
		s := c.of()
		c.change(&s)
		err := s.Validate()
		var wrong *FieldError
		if !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want one of field %s with %q", err, c.field, c.want)
		}
	}
}

// With a generator of the user's own any scheme passes through.
func TestOtherSchemes(t *testing.T) {
	s := server()
	s.Target.URL, s.Load.Command = "https://127.0.0.1:{port}/", "oha {url}"
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
}

func TestTitles(t *testing.T) {
	for want, s := range map[string]Spec{
		"server":    server(),
		"my sweep":  {Name: "my sweep"},
		"cpuserver": {Target: Target{BuiltIn: "cpuserver", Command: []string{"procfit"}}},
		"gobench":   {Target: Target{Command: []string{"go", "test", "-bench", "X", "./p"}}},
		"job":       {Target: Target{Command: []string{"env", "A=1", "B=2", "/usr/bin/job", "x=y"}}},
		"tool":      {Target: Target{Command: []string{"env", "-i", "-u", "HOME", "tool"}}},
		"env":       {Target: Target{Command: []string{"env"}}},
		"a_b":       {Target: Target{Command: []string{"a b"}}},
		"exec-ed":   {Target: Target{Command: []string{"sh", "-c", "PORT={port} A=b exec ./exec-ed -x"}}},
		"plain":     {Target: Target{Command: []string{"/bin/bash", "-c", "PORT={port} ./plain"}}},
		"after":     {Target: Target{Command: []string{"sh", "-c", "cd x && exec ./after"}}},
		"sh":        {Target: Target{Command: []string{"sh", "-c", "./a; ./b"}}},
		"dash":      {Target: Target{Command: []string{"dash", "-c", `exec "$@"`, "dash", "x"}}},
		"api":       {Target: Target{Build: "./cmd/api"}},
		"build":     {Target: Target{Build: "."}},
	} {
		if got := s.Title(); got != want {
			t.Errorf("%v is titled %q, want %q", s.Target, got, want)
		}
	}
}

func TestKinds(t *testing.T) {
	for want, target := range map[string]Target{
		journal.KindServer:  server().Target,
		journal.KindBatch:   batch().Target,
		journal.KindGoBench: {Command: []string{"go", "test", "-bench=."}},
	} {
		if got := target.Kind(); got != want {
			t.Errorf("%v is a %s, want %s", target.Command, got, want)
		}
	}
	if got := (Target{Command: []string{"x"}, Benchmarks: true}).Kind(); got != journal.KindGoBench {
		t.Errorf("a program that prints benchmark lines is a %s", got)
	}
}
