package plan

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/test/must"
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
	compile, benchmarks := batch(), batch()
	compile.Target.Command = strings.Fields("go test -c -o /dev/null ./...")
	benchmarks.Target.Command, benchmarks.Profile = strings.Fields("go test -bench ."), ProfileOwn
	for name, s := range map[string]Spec{
		"server": server(), "batch": batch(), "tests that are compiled": compile, "benchmarks that are profiled": benchmarks,
		"profiled":              serverWith(func(s *Spec) { s.Profile = ProfileOwn }),
		"profiled at a port":    serverWith(func(s *Spec) { s.Profile = "http://127.0.0.1:{port}/p" }),
		"any scheme of another": serverWith(func(s *Spec) { s.Target.URL, s.Load.Command = "https://127.0.0.1:{port}/", "oha {url}" }),
	} {
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Each mistake is reported with the field that has it.
func TestWrongFields(t *testing.T) {
	for _, c := range []struct {
		of     func() Spec
		change func(*Spec)
		field  string
		want   string
	}{
		{batch, func(s *Spec) { s.Quotas = []*float64{nil, ptr(0.001)} }, "limit", "no CPU limit below"},
		{batch, func(s *Spec) { s.Target.Command = nil }, "command", "no command"},
		{batch, func(s *Spec) { s.Target.Command = []string{"go", "test", "./..."} }, "command", "without -bench"},
		{batch, func(s *Spec) { s.Target.Command = strings.Fields("go test -bench . -cpu 1,2") }, "command", "go test: remove -cpu: it sets GOMAXPROCS"},
		{batch, func(s *Spec) { s.Target.Against = strings.Fields("go test -bench . ./...") }, "command", "several packages"},
		{batch, func(s *Spec) { s.Target.Command = strings.Fields("env GOGC=50 go test -bench . ./pkg") }, "command", "go test behind another command would be measured with its compilation"},
		{batch, func(s *Spec) { s.Target.Against = strings.Fields("nice go1.24.1 test -bench .") }, "command", "must begin with go test"},
		{batch, func(s *Spec) { s.Target.Command = []string{"job", "{port}"} }, "url", "no --url to load"},
		{batch, func(s *Spec) { s.Target.Prepare = []string{""} }, "prepare", "expected a command"},
		{batch, func(s *Spec) { s.Target.Beside = &Neighbour{} }, "beside", "expected a command"},
		{batch, func(s *Spec) { s.Target.Beside = &Neighbour{Command: []string{"n", ":{port}"}} }, "beside", "no port is chosen then"},
		{batch, func(s *Spec) { s.GoVersions = []string{"1.24"} }, "go", "needs --build"},
		{batch, func(s *Spec) { s.Load.Command = "wrk {url}" }, "load", "needs --url"},
		{batch, func(s *Spec) { s.Load.Rate = 100 }, "rate", "is for servers"},
		{server, func(s *Spec) { s.Target.Command = nil }, "url", "no command"},
		{server, func(s *Spec) { s.Target.Prepare = []string{"x"} }, "prepare", "batch programs"},
		{server, func(s *Spec) { s.Target.RunTimeout = time.Second }, "timeout", "batch programs"},
		{server, func(s *Spec) { s.Target.URL = "127.0.0.1:{port}" }, "url", "http:// is missing"},
		{server, func(s *Spec) { s.Target.URL = "ftp://127.0.0.1:{port}/" }, "url", "not ftp; procfit sweep takes another"},
		{server, func(s *Spec) { s.Target.Command = []string{"./server"} }, "url", "neither the command nor --env has"},
		{server, func(s *Spec) { s.Target.URL = "http://127.0.0.1:8080/" }, "url", "Write {port} in the URL"},
		{server, func(s *Spec) {
			s.Target.Command, s.Target.URL, s.Replicas = []string{"./server"}, "http://h/", []int{1, 2}
		}, "replicas", "needs {port}"},
		{server, func(s *Spec) { s.Replicas = []int{1, 128} }, "connections", `"64": 128 URLs need at least one each`},
		{server, func(s *Spec) { s.Load.Rate, s.Load.Duration, s.Load.Stretch = 1, time.Second, false }, "rate", `"1": less than one request in 500 ms`},
		{server, func(s *Spec) {
			s.Target.Command, s.Target.URL, s.Target.Attach, s.Load.Rate = nil, "http://h/", &Attached{}, 1
		}, "trial-time", "warmup=500ms has less than one request at --rate 1: make it longer, or 0s"},
		{server, func(s *Spec) { s.Load.Headers = []string{"nocolon"} }, "header", "no colon"},
		{server, func(s *Spec) { s.Load.Method = "G T" }, "url", "not an HTTP method"},
		{server, func(s *Spec) { s.Load.Command = "wrk {speed}" }, "load", "unknown placeholder"},
		{server, func(s *Spec) { s.Load.Command, s.Replicas = "wrk {url}", []int{2} }, "load", "{urls}"},
		{server, func(s *Spec) { s.Load.Command, s.Load.Rate = "wrk {url}", 100 }, "load", "write {rate}"},
		{batch, func(s *Spec) { s.Profile = ProfileOwn }, "profile", "needs a server with --url that serves net/http/pprof, or go test -bench"},
		{batch, func(s *Spec) { s.Target.Command, s.Profile = strings.Fields("go test -bench ."), "http://h/" }, "profile", "go test writes its profiles itself"},
		{server, func(s *Spec) { s.Quotas, s.Profile = []*float64{nil, new(1.0)}, ProfileOwn }, "profile", "compares two settings: give one value of --limit"},
		{server, func(s *Spec) {
			s.Target.Command, s.Target.URL, s.Profile = []string{"./server"}, "http://127.0.0.1:8080/", "http://127.0.0.1:{port}/"
		}, "profile", "no port is chosen then"},
		{podSpec, func(s *Spec) { s.Target.Command = []string{"./server"} }, "command", "what their image holds"},
		{podSpec, func(s *Spec) { s.Target.URL = "" }, "url", "http://{pod}:8080/"},
		{podSpec, func(s *Spec) { s.Target.URL = "http://api.shop/" }, "url", "write {pod}"},
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

// What is wrong in a value by itself is an error when it is set.
func TestWrongValues(t *testing.T) {
	for _, c := range [][3]string{
		{"procs", "0,-1,x", `"0", "-1", "x": expected auto`}, {"procs", "1..8192", "expected auto"},
		{"repeats", "0", "0: expected 1 to 1000"}, {"repeats", "1001", "1001: expected 1 to 1000"}, {"repeats", "x", `"x": expected a whole number`},
		{"replicas", "1,0", "0: expected 1 to 256"}, {"replicas", "257", "expected 1 to 256"}, {"go", "banana", `"banana": expected a Go version`},
		{"margin", "100%", "expected less than 100%"}, {"margin", "0", "expected a share above zero"}, {"margin", "p99=x%", "expected a share above zero"}, {"max-errors", "-1", "above zero"}, {"max-errors", "5", "a share below 1, for example 5%"}, {"margin", "5%,p99=20", "a share below 1"},
		{"limit", "none,0.001", "no CPU limit below"}, {"limit", "-1", "above zero"}, {"limit", "NaN", "above zero"}, {"limit", "200000", `"200000": expected at most 100000 CPUs`}, {"limit", "2,burst=1", "above zero"}, {"limit", "beside=-1", "expected a CPU limit above zero"},
		{"limit", "", "is a shell variable empty?"}, {"limit", "1,beside=", "is a shell variable empty?"}, {"load", "", "is a shell variable empty?"}, {"prepare", "", "is a shell variable empty?"}, {"beside", "", "is a shell variable empty?"}, {"ready", "", "is a shell variable empty?"},
		{"cpus", "target=", `target="": expected a value; is a shell variable empty?`}, {"url", "", "is a shell variable empty?"}, {"build", "", "is a shell variable empty?"}, {"requests", "", "is a shell variable empty?"}, {"grpc", "", "is a shell variable empty?"},
		{"vary", "GOGC", "expected a variable and its values"}, {"vary", "GOGC=", "without spaces"}, {"vary", "GOGC=50,,off", "without spaces"}, {"vary", "GOGC=50", "for example GOGC=50,unset"}, {"vary", "GOGC=100", "for example GOGC=100,50"}, {"vary", "X=unset", "for example X=unset,1"}, {"vary", "GOGC=0,50", "whole numbers above zero"}, {"vary", "GOGC=50,3000000000", `"GOGC=3000000000": expected whole numbers above zero and below 2^31`},
		{"vary", "GOMEMLIMIT=64MB,off", `"GOMEMLIMIT=64MB": expected sizes`}, {"vary", "GOMAXPROCS=1,2", "with --procs"}, {"vary", "A B=1,2", "expected a variable"}, {"vary", "X=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "at most 16"},
		{"max-memory", "64MB", "expected a size"}, {"max-memory", "512", "expected a size"}, {"max-memory", "0", "expected a size"}, {"max-memory", "off", "expected a size"},

		{"env", "x", "expected NAME=VALUE"}, {"env", "=x", "no name before"}, {"env", "GOMAXPROCS=2", "--procs"},
		{"timeout", "ready=0s", "above zero"}, {"timeout", "stop=-1s", "at least 0s, for example stop=5s"}, {"timeout", "redy=1s", "expected ready=, quiet=, request="}, {"timeout", "1s", "stop=, for example ready=1s"}, {"trial-time", "0s", "above zero"}, {"trial-time", "10", `"10": add a unit, for example 10s`}, {"trial-time", "ten", `"ten": expected a time`}, {"trial-time", "1s,warm=1s", `"warm=1s": expected warmup=`},
		{"trial-time", "warmup=-1s", "expected a time of at least"}, {"timeout", "request=0s", "above zero"}, {"for", "-1s", "above zero"}, {"until", "trials=0", "trials=0: expected 1 to 100000"},
		{"connections", "0", "0: expected at least 1"}, {"streams", "0", "expected at least 1"}, {"rate", "0", "requests per second above zero"}, {"pace", "jumpy", `"jumpy": expected constant or poisson`}, {"until", "sure", "expected proven or likely"},
		{"cpus", "target=0-x", "expected CPU numbers and ranges"}, {"cpus", "2", "a CPU limit is --limit 2"}, {"slo", "20ms", `"20ms": expected a percentile`}, {"metric", "x", "write NAME"}, {"prepare", "a | b", `"a | b"`}, {"prepare", " ", "expected a command"}, {"seed", "-1", "expected a whole number"},
	} {
		f := field.Take(NewFlags().Fields(), field.Named(c[0])...)[0]
		if err := f.Value.Set(c[1]); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s of %q: %v, want %q", c[0], c[1], err, c[2])
		}
	}
}

// Each check is of a field that there is.
func TestErrorsNameFields(t *testing.T) {
	names := map[string]bool{"command": true}
	for _, f := range NewFlags().Fields() {
		names[f.Name] = true
	}
	call := regexp.MustCompile(`\bWrong(?:By)?\("([^"]*)"|\{"(\w+)", "(?:OLD: )?", [\w.]+\}`) // and the table of commands
	seen := 0
	for _, pattern := range []string{"*.go", "../local/*.go"} {
		for _, file := range must.Get(filepath.Glob(pattern))(t) {
			for _, m := range call.FindAllStringSubmatch(must.Read(t, file), -1) {
				if seen++; !names[m[1]+m[2]] {
					t.Errorf("%s: there is no field %q", file, m[1]+m[2])
				}
			}
		}
	}
	if seen < 40 {
		t.Errorf("only %d errors of fields were seen", seen)
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
		"cleared":   {Target: Target{Command: strings.Fields("env - A=1 ./cleared -x=y")}},
		"behind":    {Target: Target{Command: strings.Fields("nice -n 5 env A=1 nohup ./behind -x=y")}},
		"pinned":    {Target: Target{Command: strings.Fields("taskset -c 0 timeout -s INT 60 ./pinned -x=y")}},
		"sudo":      {Target: Target{Command: strings.Fields("sudo -u api ./server")}},
		"timed":     {Target: Target{Command: strings.Fields("/usr/bin/time -v -f %e ./timed a=b")}},
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

// Texts that mean the same are one text, and that is read back as the same.
func TestOneSpelling(t *testing.T) {
	set := func(name string, texts ...string) string {
		g := field.Given{Fields: NewFlags().Fields()}
		for _, text := range texts {
			must.OK(t, g.Set(name, text))
		}
		return g.Named(name).Value.String()
	}
	for _, c := range []struct {
		name, want string
		texts      []string
	}{
		{"limit", "0.5", []string{"500m", "0.5", ".5"}},
		{"limit", "none,2,beside=0.1", []string{"none,2,beside=100m", "beside=0.1,none,2000m"}},
		{"procs", "default,1..4,8", []string{"1-4,8,default", "default,1,2,3,4,8", "8,4,3,2,1,default"}}, {"procs", "1,2,3", []string{"1..3", "3,2,1"}}, {"procs", "auto", []string{"auto", " auto"}},
		{"replicas", "1,3", []string{"1,3", "1, 3,1"}}, {"go", "1.24,1.25.1", []string{"go1.24,1.25.1", "1.24, go1.25.1"}},
		{"trial-time", "1m", []string{"60s", "1m", "1m0s"}}, {"trial-time", "1h", []string{"60m", "3600s"}}, {"trial-time", "1h5m,warmup=1s", []string{"65m,warmup=1s", "warmup=1000ms,65m"}}, {"trial-time", "10s", []string{"10s"}}, {"trial-time", "warmup=0s", []string{"warmup=0", "warmup=0ms"}},
		{"margin", "7%", []string{"7%", "0.07", ".07"}}, {"margin", "7%,p99=150%", []string{"7.0%,p99=150.0%", "p99=150%,0.07"}}, {"margin", "p99=20%", []string{"p99=0.2"}}, {"max-errors", "0.1%", []string{"0.001"}},
		{"rate", "12800", []string{"12.8k", "12800", "1.28e4"}}, {"rate", "auto", []string{"auto"}}, {"seed", "7", []string{"7", "07"}},
		{"connections", "5", []string{"5", " 5", "05"}}, {"until", "trials=90", []string{"trials=90", "trials=+90"}}, {"until", "likely,trials=9", []string{"likely,trials=9", "trials=9,likely"}}, {"repeats", "3", []string{"3", "03"}}, {"any-program", "true", []string{"1", "true", "T"}},
		{"cpus", "target=0-2,5", []string{"target=0,1,2,5", "target=5,0-2"}}, {"cpus", "target=0-1,load=3,5", []string{"load=5,3,target=0,1"}}, {"cpus", "load=shared", []string{"load=shared"}}, {"cpus", "load=node0", []string{"load= node0"}},
		{"timeout", "ready=1m,stop=2s", []string{"ready=60s,stop=2s", "stop=2000ms,ready=1m"}}, {"tls", "name=h,insecure", []string{"insecure,name=h"}},
	} {
		for _, text := range append(c.texts, c.want) {
			if got := set(c.name, text); got != c.want {
				t.Errorf("--%s %q is %q, want %q", c.name, text, got, c.want)
			}
		}
	}
	if got := set("timeout", "stop=9s", "ready=60s", "stop=2s"); got != "ready=1m,stop=2s" {
		t.Errorf("parts of several flags: %q", got)
	}
	if got := set("replicas", "1", "3,2"); got != "1,3,2" {
		t.Errorf("lists of several flags: %q", got)
	}
}
