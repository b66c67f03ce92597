package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Options are how a cluster is to be.
type Options struct {
	Nodes int       // 0: one
	Log   io.Writer // gets what is done, a line each; nil: nowhere
}

// Cluster is one that runs.
type Cluster struct {
	Kubeconfig string // of its administrator; only the user may read it
	Dir        string // of the run: logs are NAME.log
	Server     string // the URL of its API server

	nodes int
	bin   string
	place place
	first *exec.Cmd // unshare, whose child is process 1 of the cluster
	ended chan struct{}
}

// startLimit is for a start next to others on a busy machine; alone it takes some 20 s.
const startLimit = 5 * time.Minute

// Start brings a cluster up and returns when every node is ready. It needs root, and
// what Missing names.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	if o.Log == nil {
		o.Log = io.Discard
	}
	bin, err := binaries(ctx, o.Log)
	if err != nil {
		return nil, err
	}
	p, err := claim()
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		Kubeconfig: filepath.Join(p.dir, "kubeconfig"), Dir: p.dir, Server: "https://" + p.inside() + ":6443",
		nodes: max(o.Nodes, 1), bin: bin, place: p, ended: make(chan struct{}),
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	began := time.Now()
	if err := c.up(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%w%s", err, c.tails()), c.Stop())
	}
	fmt.Fprintf(o.Log, "cluster %d, Kubernetes %s with %d nodes, is up after %.0f s: %s\n", p.number, Version, c.nodes, time.Since(began).Seconds(), c.Kubeconfig)
	return c, nil
}

func (c *Cluster) up(ctx context.Context) error {
	for _, step := range []func() error{
		func() error { return c.place.prepare(c.nodes) },
		c.configure,
		c.launch,
		func() error { return c.join(ctx) },
		func() error { return c.until(ctx, "the API server is ready", "get", "--raw", "/readyz") },
		func() error { return c.Load(ctx, filepath.Join(c.bin, "pause"), PauseImage) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	for n := range c.nodes {
		name := fmt.Sprintf("node/node%d", n+1)
		if err := c.until(ctx, name+" is ready", "wait", "--for=condition=Ready", name, "--timeout=20s"); err != nil {
			return err
		}
	}
	return c.until(ctx, "pods get an identity", "get", "serviceaccount", "default", "--namespace", "default")
}

// launch starts process 1 of the cluster. The kernel ends it with this process, more
// exactly with the thread that started it, which therefore is kept.
func (c *Cluster) launch() error {
	log, err := os.OpenFile(filepath.Join(c.Dir, "start.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command("unshare", "--pid", "--fork", "--kill-child", "--mount", "--net",
		"bash", filepath.Join(c.Dir, "start.sh"), c.Dir, c.bin, c.place.outside(), c.place.inside(), fmt.Sprint(c.nodes), c.place.cgroup())
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "GOMAXPROCS=") // what the tests run with is not the cluster's
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setsid: true}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // it is killed
			close(c.ended)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start the cluster: %w", err)
	}
	c.first = cmd
	return nil
}

// join connects the cluster's network with the machine's.
func (c *Cluster) join(ctx context.Context) error {
	var inside string
	for inside == "" {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", c.first.Process.Pid))
		if err != nil {
			return fmt.Errorf("start the cluster: %w", err)
		}
		inside = strings.TrimSpace(string(children))
		if err := c.pause(ctx); err != nil {
			return err
		}
	}
	name := c.place.link()
	for _, args := range [][]string{
		{"link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", inside},
		{"addr", "add", c.place.outside() + "/30", "dev", name},
		{"link", "set", name, "up"},
	} {
		if _, err := run(ctx, nil, "ip", args...); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) until(ctx context.Context, what string, args ...string) error {
	for {
		_, err := c.Kubectl(ctx, nil, args...)
		if err == nil {
			return nil
		}
		if paused := c.pause(ctx); paused != nil {
			return fmt.Errorf("%w: it was waited until %s: %w", paused, what, err)
		}
	}
}

func (c *Cluster) pause(ctx context.Context) error {
	select {
	case <-time.After(200 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ended:
		return errors.New("the cluster has ended by itself")
	}
}

// Kubectl runs kubectl of the cluster's version as its administrator, and returns what
// it prints.
func (c *Cluster) Kubectl(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	return run(ctx, stdin, c.KubectlPath(), append([]string{"--kubeconfig", c.Kubeconfig}, args...)...)
}

// KubectlPath is the program, for what needs more of it.
func (c *Cluster) KubectlPath() string { return filepath.Join(c.bin, "kubectl") }

// Stop ends the cluster and takes away all that it has made.
func (c *Cluster) Stop() error {
	if c.first != nil {
		_ = c.first.Process.Kill() // it may have ended
		<-c.ended
	}
	return c.place.release()
}

func (c *Cluster) tails() string {
	var b strings.Builder
	logs, _ := filepath.Glob(filepath.Join(c.Dir, "*.log"))
	for _, name := range logs {
		text, _ := os.ReadFile(name)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		fmt.Fprintf(&b, "\n%s:\n\t%s", filepath.Base(name), strings.Join(lines[max(0, len(lines)-5):], "\n\t"))
	}
	return b.String()
}

func run(ctx context.Context, stdin io.Reader, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = stdin
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if failed := cmd.Run(); failed != nil {
		return out.String(), fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), failed, strings.TrimSpace(err.String()))
	}
	return out.String(), nil
}
