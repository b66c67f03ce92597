package cluster_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/procfit/procfit/test/built"
)

const socket = "/run/app/live/procfit.sock" // as the page has it

// sidecar is the pod of docs/how-to/try-values-live.md, as a Deployment with other images. It
// has the traffic of its Service.
func sidecar(ctx context.Context, t *testing.T, name string) *shop {
	t.Helper()
	page, err := os.ReadFile("../../docs/how-to/try-values-live.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "## In Kubernetes")
	_, after, _ = strings.Cut(after, "```yaml\n")
	pod, _, ok := strings.Cut(after, "```")
	if !ok || !strings.Contains(after, "/procfit live "+socket+" ") {
		t.Fatalf("the page has no pod, or no experiment at %s", socket)
	}
	s := &shop{T: t, cluster: running(t), name: name, program: procfit(t), dir: t.TempDir()}
	s.loadOnce(ctx)
	metered(ctx, t, s.cluster)
	s.interrupter(ctx)
	namespace(ctx, t, s.cluster, name)
	for from, to := range map[string]string{"registry.example/shop/api:1.2\n": meteredImage + "\n      env: [{name: CONTROL, value: " + socket + "}]\n      readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}\n", "registry.example/tools/procfit:v1": sweptImage} {
		if !strings.Contains(pod, from) {
			t.Fatalf("the pod of the page has no image %s:\n%s", from, pod)
		}
		pod = strings.Replace(pod, from, to, 1)
	}
	deployment := `
apiVersion: apps/v1
kind: Deployment
metadata: {name: api}
spec:
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
` + "    " + strings.ReplaceAll(strings.TrimSpace(pod), "\n", "\n    ") + `
---
apiVersion: v1
kind: Service
metadata: {name: api}
spec: {selector: {app: api}, ports: [{port: 80, targetPort: 8080}]}
`
	kubectl(ctx, t, s.cluster, deployment, "apply", "--namespace", name, "-f", "-")
	t.Cleanup(func() {
		for _, args := range [][]string{{"describe", "pods"}, {"logs", "deploy/api", "-c", "api"}, {"logs", "deploy/api", "-c", "procfit"}} {
			if t.Failed() {
				out, err := s.cluster.Kubectl(context.Background(), nil, append(args, "--namespace", name)...)
				t.Logf("kubectl %s: %v\n%s", args, err, out)
			}
		}
	})
	s.traffic(s.reached(ctx), true)
	return s
}

// in is procfit in the sidecar, as the page calls it.
func (s *shop) in(ctx context.Context, args ...string) *exec.Cmd {
	all := append([]string{"--kubeconfig", s.cluster.Kubeconfig, "--namespace", s.name, "exec", "deploy/api", "-c", "procfit", "--", "/procfit"}, args...)
	return exec.CommandContext(ctx, s.cluster.KubectlPath(), all...)
}

// TestSidecar: a live experiment in a pod, with the socket in an emptyDir and procfit in a
// second container, as the page shows it.
func TestSidecar(t *testing.T) {
	t.Parallel()
	if runtime.NumCPU() < 2 {
		t.Skip("needs two CPUs, to try one")
	}
	restored := fmt.Sprintf("GOMAXPROCS is %d again", runtime.NumCPU())
	usual := regexp.MustCompile(fmt.Sprintf(`GOMAXPROCS +%d\n`, runtime.NumCPU()))
	ctx := limit(t)
	s := sidecar(ctx, t, "sidecar")
	experiment := []string{"live", socket, "--procs", "1", "--slice", "1s", "--burn-in", "200ms", "--baseline", "4s", "--budget", "100000"}
	out, err := s.in(ctx, append(experiment, "--duration", "35s", "--out", "/run/app/results")...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"procfit: [block 2] 1 ", restored, fmt.Sprintf("Set live, with %d at start", runtime.NumCPU()), fmt.Sprintf(", %d CPUs, ", runtime.NumCPU())} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	if out, err := s.in(ctx, "report", "/run/app/results").CombinedOutput(); err != nil || !strings.Contains(string(out), "slices of about 1 s") {
		t.Errorf("%v: %s", err, out)
	}
	observed := func() string {
		t.Helper()
		out, err := s.in(ctx, "observe", socket, "--duration", "1s").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "req") {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if got := observed(); !usual.MatchString(got) {
		t.Errorf("%s", got)
	}

	// Ctrl-C at the terminal of kubectl exec -it restores the value.
	cut := s.in(ctx, append(experiment, "--duration", "3m", "--out", "/run/app/cut")...)
	cut.Args = slices.Replace(cut.Args, 5, 6, "exec", "-it")
	terminal := s.terminal(cut)
	time.Sleep(12 * time.Second)
	if _, err := terminal.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	shown, _ := io.ReadAll(terminal) // its end is an error
	_ = cut.Wait()
	for _, want := range []string{"[block 2] 1 ", restored, "it was interrupted"} {
		if !strings.Contains(string(shown), want) {
			t.Errorf("at the terminal: no %q in %s", want, shown)
		}
	}
	if got := observed(); !usual.MatchString(got) {
		t.Errorf("%s", got)
	}

	// A kubectl that is killed leaves the procfit in the pod at work. A container next to it can
	// interrupt it.
	lost := s.in(ctx, append(experiment, "--duration", "10m", "--out", "/run/app/lost")...)
	if err := lost.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Second)
	_ = lost.Process.Kill()
	_ = lost.Wait()
	pod := strings.TrimSpace(kubectl(ctx, t, s.cluster, "", "get", "pods", "--namespace", s.name, "-l", "app=api", "-o", "jsonpath={.items[0].metadata.name}"))
	kubectl(ctx, t, s.cluster, "", "debug", pod, "--namespace", s.name, "--image="+interruptImage, "--target=procfit")
	for from := time.Now(); ; time.Sleep(time.Second) {
		out, _ := s.in(ctx, "report", "/run/app/lost").CombinedOutput()
		if strings.Contains(string(out), "it was interrupted") {
			break
		}
		if time.Since(from) > 30*time.Second {
			t.Fatalf("it continues: %s", out)
		}
	}
	if got := observed(); !usual.MatchString(got) {
		t.Errorf("%s", got)
	}
}

const interruptImage = "procfit.test/interrupt:1"

// interrupter imports the image of a program that does what pkill -INT -f 'procfit live' does.
func (s *shop) interrupter(ctx context.Context) {
	s.Helper()
	program := built.Program{Name: "interrupt", Env: []string{"CGO_ENABLED=0"}, Files: map[string]string{
		"go.mod": "module interrupt\n\ngo 1.21\n",
		"main.go": `package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

func main() {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range all {
		if b, _ := os.ReadFile(name); strings.Contains(strings.ReplaceAll(string(b), "\x00", " "), "procfit live") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			println(pid, syscall.Kill(pid, syscall.SIGINT) == nil)
		}
	}
}
`}}.Run(s.T)
	if err := s.cluster.Load(ctx, program, interruptImage); err != nil {
		s.Fatal(err)
	}
}

// terminal starts a command at a terminal of its own, and is the other side of it.
func (s *shop) terminal(cmd *exec.Cmd) *os.File {
	s.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		s.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		s.Fatal(err)
	}
	theirs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		s.Fatal(err)
	}
	defer theirs.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	return ours
}
