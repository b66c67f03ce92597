package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/program/goproc/goproctest"
	"github.com/procfit/procfit/test/child"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// TestExplainAnothersProcess explains a process of root to nobody: its limits and
// its affinity are there for all to see, its value and its environment are not,
// and no rule claims anything of them.
func TestExplainAnothersProcess(t *testing.T) {
	need.Root(t)
	cmd := exec.Command(need.Command(t, "cat"))
	in := must.Get(cmd.StdinPipe())(t)
	must.OK(t, cmd.Start())
	defer func() { in.Close(); cmd.Wait() }()
	pid := strconv.Itoa(cmd.Process.Pid)

	var text, lines, errs bytes.Buffer
	var codes [2]int
	need.AsNobody(t, func() {
		codes[0] = newStdio(t.Context(), strings.NewReader(""), &text, &errs, []string{"explain", pid}).run() // on this thread
		codes[1] = newStdio(t.Context(), strings.NewReader(""), &lines, &errs, []string{"explain", "--json", pid}).run()
	})
	if codes != [2]int{} || errs.Len() > 0 {
		t.Errorf("exit codes %v: %s", codes, errs.String())
	}
	for _, want := range []string{
		"process " + pid + " (cat) cannot be read and may not be a Go program; for one in its place ",
		"CAP_SYS_PTRACE",
		"its environment is unreadable (/proc/" + pid + "/environ: permission denied)",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	must.Say(t, lines.String(), `"actual_procs":null`, `"actual_unknown":"`, `"program_unknown":"`, `"affinity":{"state":"known"`, `"env":{"state":"unreadable"`, `"set_by":"unknown"`)
	for _, never := range []string{"PF001", "PF002", "PF003"} {
		if strings.Contains(text.String(), never) {
			t.Errorf("%s judges what could not be read:\n%s", never, text.String())
		}
	}
}

// TestExplainInterrupted: Ctrl-C while a process is watched ends the command, without an
// explanation of what was not watched.
func TestExplainInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	if code := Main(ctx, []string{"explain", strconv.Itoa(os.Getpid())}, strings.NewReader(""), &out, &errs); code != exitInterrupted || out.Len() > 0 || errs.String() != "procfit: interrupted\n" {
		t.Errorf("exit code %d, %q, %q", code, out.String(), errs.String())
	}
}

// TestExplainColourNeedsATerminal pins that what goes to a file holds no colours.
func TestExplainColourNeedsATerminal(t *testing.T) {
	f := must.Get(os.CreateTemp(t.TempDir(), "out"))(t)
	defer f.Close()
	if code := Main(t.Context(), []string{"explain", "--cpus", "8", "--gomaxprocs", "x"}, strings.NewReader(""), f, io.Discard); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if text := must.Read(t, f.Name()); text == "" || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}

// groupOf makes a group of the test's own, and skips it where none can be made.
func groupOf(t *testing.T) *cgroup.Group {
	t.Helper()
	groups, err := cgroup.Find()
	if err != nil {
		need.Skip(t, err.Error())
	}
	g := must.Get(groups.New())(t)
	t.Cleanup(func() {
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// TestExplainWeight explains a process whose group has the weight of a request of half
// a CPU.
func TestExplainWeight(t *testing.T) {
	need.Root(t)
	g := groupOf(t)
	const milli = 500
	file, weight, want := "cpu.weight", cgroup.Linear.Weight(milli), " corresponds to a request of 0.49 to 0.514 CPUs, with runc before 1.3.2"
	if _, err := os.Stat(filepath.Join(g.Dir(), "cpu.shares")); err == nil {
		file, weight, want = "cpu.shares", cgroup.Shares.Weight(milli), " corresponds to a request of 0.5 CPUs\n"
	}
	file = filepath.Join(g.Dir(), file)
	must.OK(t, os.WriteFile(file, []byte(strconv.FormatInt(weight, 10)), 0o644))
	cmd := exec.Command("/bin/sh", "-c", `echo 0 >"$0" && echo in && exec cat`, g.ProcsFile())
	child.Start(t, cmd).Line()
	text := printedBy(t, "explain", strconv.Itoa(cmd.Process.Pid))
	if want = file + ": " + strconv.FormatInt(weight, 10) + want; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

// TestExplainLiveMemoryLimit: what the code of a process has set is read, in text and JSON.
func TestExplainLiveMemoryLimit(t *testing.T) {
	probe, _ := goproctest.Start(t, goproctest.Build{Env: []string{"CGO_ENABLED=0"}}.Run(t), "GOMEMLIMIT=200MiB")
	probe.Tell("limit 104857600")
	for format, want := range map[string][]string{
		"text": {"its memory: it runs with GOMEMLIMIT=100MiB", "  live            100MiB  read from its memory\n", "  go              200MiB  GOMEMLIMIT="},
		"json": {`"live":{"bytes":104857600}`},
	} {
		must.Say(t, printedBy(t, "explain", "--memory", strconv.Itoa(probe.PID()), "-o", format), want...)
	}
}

// TestExplainMeasuredReserve: a busy process in the same limit is what is reserved for it.
func TestExplainMeasuredReserve(t *testing.T) {
	t.Parallel()
	need.Root(t)
	g := groupOf(t)
	must.OK(t, g.SetQuota(1.5))
	in := func(script string) *exec.Cmd {
		cmd := exec.Command("/bin/sh", "-c", `echo 0 >"$0" && echo in && `+script, g.ProcsFile())
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err == nil {
			_, err = io.ReadFull(out, make([]byte, len("in\n")))
		}
		must.OK(t, err)
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd
	}
	quiet, busy := in("exec sleep 600"), in("while :; do :; done")
	t.Run("text", func(t *testing.T) {
		t.Parallel()
		code, text, errs := callMain(t, "explain", "--reserve", "auto", "--policy", "fit", strconv.Itoa(quiet.Process.Pid))
		got := strings.Join(strings.Fields(text), " ")
		for _, want := range []string{
			"fit chooses 1 ", " reserved for others: 1.5 ", "which the others in the same limit used", g.Dir() + ": its processes used ", " over ",
			"process " + strconv.Itoa(quiet.Process.Pid) + " itself used 0.00 CPUs", "(process " + strconv.Itoa(busy.Process.Pid) + ") ", "may need more at their peak",
		} {
			if code != 0 || !strings.Contains(got, want) {
				t.Errorf("exit code %d, %s: no %q in\n%s", code, errs, want, text)
			}
		}
		if want := "measuring for 5 s what others use in the limit of process " + strconv.Itoa(quiet.Process.Pid); !strings.Contains(errs, want) {
			t.Errorf("no %q in %s", want, errs)
		}
	})
	t.Run("JSON", func(t *testing.T) {
		t.Parallel()
		text := printedBy(t, "explain", "--reserve", "auto", "--json", strconv.Itoa(busy.Process.Pid))
		var out struct {
			Reserve struct {
				CPUs    float64 `json:"cpus"`
				OwnCPUs float64 `json:"own_cpus"`
				Group   string
			}
		}
		if err := json.Unmarshal([]byte(text), &out); err != nil || out.Reserve.OwnCPUs <= 0 || out.Reserve.CPUs > out.Reserve.OwnCPUs/2 || out.Reserve.Group != g.Dir() {
			t.Errorf("%+v, %v: the busy one itself is no neighbour", out, err)
		}
	})
}
