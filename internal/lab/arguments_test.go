package lab

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// misused are sizes and times that make no sense.
var misused = []string{
	"parallel -steps 0", "parallel -goroutines 0", "workload -workload disk", "workload -duration -1s", "workload -duration 0s", "workload -gomaxprocs -3",
	"cpubound -n 0", "iobound -n 0", "iobound -d -1s", "contention -goroutines 0", "stealing -goroutines 0", "stealing -waves 0", "stealing -procs -1", "stealing -work -1ms", "stealing -for -1s",
	"schedtrace -n 0", "chain -n 0", "chain -goroutines 0", "chainbuf -buffer 0", "preempt -steps -1", "preempt -d -1s", "preempt -timeout -1s", "sieve -n 0", "handoff -threads 0", "powser -terms 0", "powser -terms 99",
	"garbage -live 0", "http -clients 0", "json -levels 40", "threads -n 2", "threads -d 0s", "busyworker -busy 0", "headroom -records 0", "headroom -wait -1s", "headroom -d 0s", "headroom -blocked -1",
	"idle -n 0", "idle -d 0s", "extremes -blocks 0", "extremes -d 0s", "extremes -clients 0", "gc -live 0", "blocking -n 0", "blocking -d 0s",
	"tenants -rate 0", "tenants -how apart", "tenants -rate NaN", "tenants -d 0s", "racy -n 19", "remedies -goroutines 0",
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
	}
	for _, command := range misused {
		id, args, _ := strings.Cut(command, " ")
		refuses(t, id, args, strings.Fields(args)[0])
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
