package lab

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// misused is, for batch programs, what they refuse in addition to the sizes of TestSizes
// and a stray word.
var misused = map[string][]string{
	"workload": {"-duration -1s", "-duration 0s", "-gomaxprocs -3"},
	"preempt":  {"-d -1s", "-timeout -1s"},
	"stealing": {"-procs -1", "-work -1ms", "-for -1s"},
	"threads":  {"-d 0s"},
	"headroom": {"-wait -1s", "-d 0s", "-blocked -1"},
	"idle":     {"-d 0s"},
	"extremes": {"-d 0s", "-clients 0"},
	"blocking": {"-d 0s"},
	"tenants":  {"-how apart", "-rate NaN", "-d 0s"},
}

// What a program cannot do anything with is a usage error, before it runs: a word
// that ends the flags would leave those behind it without effect.
func TestArguments(t *testing.T) {
	for _, e := range of(Batch) {
		flags := quick[e.ID][0].args
		for args, want := range map[string]string{
			"extra":                            `"extra"`,
			"extra -no-such-flag":              `"extra"`,
			strings.TrimSpace(flags + " 7"):    `"7"`,
			strings.TrimSpace(flags + " -- x"): `"x"`,
		} {
			refuses(t, e.ID, args, want)
		}
		for _, args := range misused[e.ID] {
			refuses(t, e.ID, args, strings.Fields(args)[0])
		}
	}
}

// refuses wants exit code 2 and one line that says why.
func refuses(t *testing.T, id, args, want string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code, err := Run(id, strings.Fields(args), &stdout, &stderr)
	line := stderr.String()
	if code != 2 || err != nil || stdout.Len() > 0 || !strings.HasPrefix(line, id+": ") || !strings.Contains(line, want) || strings.Count(line, "\n") != 1 {
		t.Errorf("%s %s: exit code %d, %v, want 2 and a line with %s: %s%s", id, args, code, err, want, stdout.String(), line)
	}
}

// Those that do more when they are started alone: the servers, and preempt, which starts
// itself again.
func TestStandaloneArguments(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	commands := []string{"preempt -d 1ms -timeout 10s extra", "preempt -d 1ms -timeout -1s"}
	for _, e := range builtAlone() {
		if e.Kind == Server {
			commands = append(commands, e.ID+" -addr none extra") // an address at which it would not hang
		}
	}
	for _, c := range commands {
		words := strings.Fields(c)
		output, err := exec.CommandContext(t.Context(), standaloneProgram(t, words[0]), words[1:]...).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.HasPrefix(string(output), words[0]+": ") {
			t.Errorf("%s: %v, want exit code 2: %s", c, err, output)
		}
	}
}
