// Package agree asks procfit live and procfit sweep about the same programs under the same
// load, and compares their answers. It takes an hour of a machine that does nothing else,
// so it is run by hand, in the background of .ci/full.
package agree

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// asked is what one of both said of a program: a file in the folder of PROCFIT_AGREE.
type asked struct {
	Started time.Time
	Rate    float64 // requests per second
	Result  json.RawMessage
}

const (
	longestSweep = "100s"
	longestLive  = 130 * time.Second
)

// TestAgree asks about each program that the folder PROCFIT_AGREE has no answers of.
func TestAgree(t *testing.T) {
	root := os.Getenv("PROCFIT_AGREE")
	if root == "" {
		t.Skip("fourteen programs of four minutes: by hand, with PROCFIT_AGREE=FOLDER")
	}
	need.Root(t)
	root = must.Get(filepath.Abs(root))(t)
	procfit := filepath.Join(root, "procfit")
	built.ReadsProcfit(t)
	if _, err := os.Stat(procfit); err != nil { // one for all programs
		must.Output(t, exec.Command("go", "build", "-o", procfit, "../../cmd/procfit"))
	}
	var rows []row
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			path := p.build(t, root)
			if os.Getenv("PROCFIT_AGREE_BUILD") != "" {
				t.Skip("it is only built")
			}
			swept := kept(t, filepath.Join(root, p.name+".sweep.json"), func() asked { return p.sweep(t, procfit, path) })
			lived := kept(t, filepath.Join(root, p.name+".live.json"), func() asked { return p.live(t, procfit, path, swept.Rate) })
			for _, v := range p.values {
				r := compare(t, p, v, lived, swept)
				rows = append(rows, r)
				t.Log(r)
			}
		})
	}
	t.Logf("\n%s", table(rows))
	if n := count(rows, disagree); 10*n > len(rows) {
		t.Errorf("%d of %d pairs disagree, want at most one in ten", n, len(rows))
	}
}

// kept is what the file has; if there is none, ask, and keep the answer.
func kept(t *testing.T, file string, ask func() asked) (a asked) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &a)
	} else {
		a = ask()
		if b, err = json.Marshal(a); err == nil {
			err = os.WriteFile(file, b, 0o644)
		}
	}
	must.OK(t, err)
	return a
}

// folder is one with what the programs serve.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "page.txt"), []byte(strings.Repeat("procfit ", 512)), 0o644))
	return dir
}

// all are the values, the one at start first.
func (p program) all() string {
	text := strconv.Itoa(p.start)
	for _, v := range p.values {
		text += "," + strconv.Itoa(v)
	}
	return text
}

// sweep sweeps the program. A busy machine is not waited for.
func (p program) sweep(t *testing.T, procfit, path string) asked {
	t.Helper()
	dir := folder(t)
	args := slices.Concat([]string{"sweep", "--file", "none", "--procs", p.all(), "--pace", "poisson", "--trial-time", "3s", "--for", longestSweep, "--timeout", "quiet=0s", "--json", "--quiet", "--out", filepath.Join(dir, "sweep"), "--url", p.address("{port}")}, p.load)
	if p.limit != "" {
		args = append(args, "--limit", p.limit)
	}
	if p.ready != "" {
		args = append(args, "--ready", p.ready)
	}
	args = slices.Concat(args, []string{"--", path}, p.filled("{port}", filepath.Join(dir, "{port}")))
	a := asked{Started: time.Now(), Result: output(t, exec.Command(procfit, args...))}
	var r sweep
	must.OK(t, json.Unmarshal(a.Result, &r))
	if len(r.Groups) != 1 || r.Groups[0].Rate == nil {
		t.Fatalf("the sweep has no rate: %s", a.Result)
	}
	a.Rate = *r.Groups[0].Rate
	return a
}

// live starts the program, loads it, and has it try the values on itself.
func (p program) live(t *testing.T, procfit, path string, rate float64) asked {
	t.Helper()
	dir := folder(t)
	port := freePort(t)
	server := exec.Command("sh", append([]string{"-c", `[ -z "$GROUP" ] || echo $$ >"$GROUP"; exec "$@"`, "sh", path}, p.filled(port, filepath.Join(dir, "live-data"))...)...)
	server.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(p.start))
	if p.limit != "" {
		server.Env = append(server.Env, "GROUP="+p.group(t))
	}
	server.Stderr = os.Stderr
	start(t, server)
	ready(t, port)
	load := exec.Command(procfit, slices.Concat([]string{"load", "--rate", strconv.FormatFloat(rate, 'f', 2, 64), "--pace", "poisson", "--for", (longestLive + 10*time.Second).String(), "--quiet", "--json"}, p.load, []string{p.address(port)})...)
	var sent bytes.Buffer
	load.Stdout, load.Stderr = &sent, os.Stderr
	start(t, load)
	time.Sleep(2 * time.Second)
	a := asked{Started: time.Now(), Rate: rate}
	a.Result = output(t, exec.Command(procfit, "live", strconv.Itoa(server.Process.Pid), "--yes", "--procs", p.all(), "--slice", "3s", "--burn-in", "1s", "--baseline", "12s", "--for", longestLive.String(), "--budget", "1%", "--json", "--quiet", "--out", filepath.Join(dir, "live")))
	return a
}

func (p program) address(port string) string {
	scheme := "http://"
	if slices.Contains(p.load, "--grpc") {
		scheme = "h2c://"
	}
	return scheme + "127.0.0.1:" + port + p.url
}

func (p program) filled(port, dir string) (list []string) {
	if p.main == "caddy" {
		dir = filepath.Dir(dir) // that of its files
	}
	for _, a := range p.args {
		list = append(list, strings.NewReplacer("{port}", port, "{dir}", dir).Replace(a))
	}
	return list
}

// group is the file of a new cgroup with the limit that takes processes.
func (p program) group(t *testing.T) string {
	t.Helper()
	parent := must.Get(cgroup.Find())(t)
	g := must.Get(parent.New())(t)
	t.Cleanup(func() { g.Kill(); g.Remove() })
	cpus, err := strconv.ParseFloat(p.limit, 64)
	if err == nil {
		err = g.SetQuota(cpus)
	}
	must.OK(t, err)
	return g.ProcsFile()
}

// start starts a command that ends with the test.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// output is what a command of procfit prints, which may answer by its exit code too.
func output(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if !json.Valid(out) || len(out) == 0 {
		t.Fatalf("%s: %v: %s%s", strings.Join(cmd.Args, " "), err, errs.String(), out)
	}
	return out
}

func freePort(t *testing.T) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func ready(t *testing.T, port string) {
	t.Helper()
	for from := time.Now(); time.Since(from) < 30*time.Second; time.Sleep(50 * time.Millisecond) {
		if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			c.Close()
			return
		}
	}
	t.Fatal("the server did not start")
}
