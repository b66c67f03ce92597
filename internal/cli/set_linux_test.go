package cli

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestLentByRoot: a value that root lends a process is lent for its own user, too, who may not see
// which namespaces the guard is in.
func TestLentByRoot(t *testing.T) {
	need.Root(t)
	theirs, ours, err := os.Pipe()
	must.OK(t, err)
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	guard := exec.Command("/proc/self/exe", "(guard)", strconv.Itoa(os.Getpid()), until.Format(time.RFC3339))
	guard.ExtraFiles = []*os.File{theirs}
	must.OK(t, guard.Start())
	defer func() { ours.Close(); guard.Wait() }() // it waits for what it is to do
	theirs.Close()
	for end := time.Now().Add(time.Minute); steer.LentUntil(os.Getpid(), []int{guard.Process.Pid}).IsZero() && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // until it ignores signals
	}
	need.AsNobody(t, func() {
		if at := steer.LentUntil(os.Getpid(), []int{guard.Process.Pid}); !at.Equal(until) {
			t.Errorf("lent until %v, expected %v", at, until)
		}
	})
}

// TestSetIsRemembered: a program without a call of runtime.GOMAXPROCS did not set its value, and
// procfit advises nobody to change that call, nor says that its environment has no effect after a restart.
func TestSetIsRemembered(t *testing.T) {
	p := built.Program{Name: "pay1", Args: []string{"-ldflags=-s -w"}, Env: []string{"CGO_ENABLED=0"}, Files: map[string]string{
		"go.mod":  "module example.com/still\n\ngo 1.24\n",
		"main.go": "package main\n\nimport (\n\t\"fmt\"\n\t\"time\"\n)\n\nfunc main() {\n\tfmt.Println(\"begun\")\n\tfor sum := 0; ; {\n\t\tfor i := range 1_000_000 { // where a call is safe\n\t\t\tsum += i ^ sum\n\t\t}\n\t\ttime.Sleep(time.Millisecond)\n\t}\n}\n",
	}}
	cmd := exec.Command(p.Run(t))
	cmd.Env = append(cmd.Environ(), "GOMAXPROCS=3")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.OK(t, err)
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	if _, err := out.Read(make([]byte, 1)); err != nil { // it runs its own code
		t.Fatal(err)
	}
	pid := strconv.Itoa(cmd.Process.Pid)
	for _, c := range []struct {
		args        []string
		wants, lack []string
	}{
		{[]string{"set", pid, "1", "--yes"}, []string{"GOMAXPROCS 3 → 1", "a restart forgets it; to keep it: ", "to undo: procfit set " + pid + " 3\n"}, nil},
		{[]string{"explain", pid}, []string{"set from outside (procfit set, a debugger)", "PF013", "overrides it until a restart", " GOMAXPROCS=3 "}, []string{"runtime.GOMAXPROCS call", "in the program or"}},
		{[]string{"ps", pid, "--interval", "0"}, []string{" outside ", "PF013"}, nil},
		{[]string{"set", pid, "3", "--yes"}, []string{"GOMAXPROCS 1 → 3", "a restart keeps it: GOMAXPROCS=3 is in its environment", "to undo: procfit set " + pid + " 1\n"}, []string{"instead of 3"}},
		{[]string{"explain", pid}, []string{"set by the environment"}, []string{"PF013"}},
		{[]string{"explain", "pay1"}, []string{"process " + pid + " (pay1) "}, nil}, // which could be a slip of a rule
	} {
		out := printedBy(t, c.args...)
		for _, want := range c.wants {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in\n%s", c.args, want, out)
			}
		}
		for _, lack := range c.lack {
			if strings.Contains(out, lack) {
				t.Errorf("%v: %q in\n%s", c.args, lack, out)
			}
		}
	}
}
