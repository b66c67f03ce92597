package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"regexp"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/inspect/exporter"
	"github.com/procfit/procfit/internal/inspect/ps"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/phrase"
)

// exporterOptions are the flags of procfit exporter.
type exporterOptions struct {
	listen       string
	maxProcesses int
	name         string
	containers   string
}

func newExporter(std stdio) *cobra.Command {
	var o exporterOptions
	cmd := &cobra.Command{
		Use:   "exporter [flags]",
		Short: "What procfit ps shows, as Prometheus metrics",
		Long: `Serve the Go processes of this machine as Prometheus metrics, at /metrics:
GOMAXPROCS and the value that fits, limits, CPU time, context switches, waiting for
CPU, throttling, scheduling latency, and the rules that fire. /healthz answers while
it serves. Each scrape looks at the processes once; between scrapes it does nothing.

Processes of other users are read as root or with CAP_SYS_PTRACE and
CAP_DAC_READ_SEARCH; complete counts of context switches and waiting need
CAP_NET_ADMIN in the PID namespace of the machine. What is missing is said
when it starts, and is a metric.

It tells names of programs to everyone who can connect: listen at 127.0.0.1:9877 or
on a network of your own. It runs until it is interrupted.`,
		Example: `  procfit exporter
  procfit exporter --listen 127.0.0.1:9877 --name '^(api|worker)'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), std)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.listen, "listen", ":9877", "`address` to listen at; port 0 takes a free one")
	f.IntVar(&o.maxProcesses, "max-processes", exporter.DefaultMaxProcesses, "processes to export, those with the most CPU time; the rest is counted")
	f.StringVar(&o.name, "name", "", "export only processes whose name this `regexp` finds a match in")
	f.StringVar(&o.containers, "containers", "", "on a node of Kubernetes, the `folder` /var/log/containers: the names of links in it tell namespace, pod and container")
	return cmd
}

func (o *exporterOptions) run(ctx context.Context, std stdio) error {
	name, err := o.check()
	if err != nil {
		return err
	}
	scanner, err := observe.NewScanner()
	if err != nil {
		return err
	}
	defer scanner.Close()
	listener, err := listen(ctx, o.listen)
	if err != nil {
		return err
	}
	defer listener.Close()

	var containers fs.FS // nil unless named
	if o.containers != "" {
		containers = os.DirFS(o.containers)
	}
	first := true
	e := exporter.New(exporter.Options{
		MaxProcesses: o.maxProcesses, Name: name, Containers: containers, Version: version(), Logf: std.notef,
		Scan: func(ctx context.Context) (observe.Snapshot, error) {
			snap, err := scanner.Scan(ctx)
			snap.Processes = slices.DeleteFunc(snap.Processes, func(p observe.Process) bool { return p.PID == os.Getpid() })
			if first && err == nil {
				first = false
				o.tell(std, snap)
			}
			return snap, err
		},
	})
	defer e.Close()
	if err := e.FirstScan(ctx); err != nil {
		return err
	}
	std.notef("serving http://%s/metrics", browsable(listener.Addr()))
	return exporter.Serve(ctx, listener, e.Handler())
}

func (o *exporterOptions) check() (name *regexp.Regexp, err error) {
	if o.containers != "" {
		if _, err := os.ReadDir(o.containers); err != nil {
			return nil, usageError("--containers: %w", err)
		}
	}
	if o.maxProcesses < 1 {
		return nil, usageError("--max-processes %d: want 1 or more", o.maxProcesses)
	}
	if _, _, err := net.SplitHostPort(o.listen); err != nil {
		return nil, usageError("--listen %q: want HOST:PORT or :PORT: %w", o.listen, err)
	}
	if o.name == "" {
		return nil, nil
	}
	if name, err = regexp.Compile(o.name); err != nil {
		return nil, usageError("--name %q: %w", o.name, err)
	}
	return name, nil
}

// listen says who has the port when it is taken.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case err == nil:
		return l, nil
	case !errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--listen %s: %w", addr, err)
	}
	_, service, _ := net.SplitHostPort(addr)
	if port, lookup := net.LookupPort("tcp", service); lookup == nil {
		var taken *observe.TakenError
		if _, who := observe.Listener(port, nil); errors.As(who, &taken) {
			return nil, fmt.Errorf("--listen %s: %w; give another port", addr, taken)
		}
	}
	return nil, fmt.Errorf("--listen %s: %w; give another port", addr, err)
}

// browsable is the address with a host that a browser on this machine can go to.
func browsable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return addr.String()
}

// tell says what the metrics will lack, and how to get it.
func (o *exporterOptions) tell(std stdio, snap observe.Snapshot) {
	std.notef("%s", phrase.CountOf(len(snap.Processes), "Go process", "Go processes"))
	for _, line := range ps.Unread(snap) {
		std.notef("%s", line)
	}
	if ps.Denied(snap) {
		std.notef("other users' processes need CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH; root outside of containers has both")
	}
	if snap.CountersWhy != nil {
		std.notef("context switches and waiting are counted thread by thread, without what threads do just before they end: %v; CAP_NET_ADMIN, in the machine's own PID namespace, allows taskstats", snap.CountersWhy)
	}
}
