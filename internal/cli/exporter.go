package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"os"
	"regexp"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/inspect/exporter"
	"github.com/procfit/procfit/internal/inspect/ps"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/phrase"
)

type exporterOptions struct {
	fieldFlags
	out          printing
	listen       string
	maxProcesses int
	name         *regexp.Regexp // nil: all
	containers   string
}

func newExporter(std stdio) *cobra.Command {
	o := exporterOptions{out: printed(), listen: "127.0.0.1:9877", maxProcesses: exporter.DefaultMaxProcesses}
	return o.bind(std, &cobra.Command{
		Use:   "exporter [flags]",
		Short: "Serve what procfit ps shows as Prometheus metrics",
		Long: `Serve the Go processes of this machine as Prometheus metrics at /metrics: GOMAXPROCS
and the recommended value, CPU limits, CPU time, context switches, waiting for CPU,
throttling, scheduling latency, and findings. /healthz answers while it serves. Each
scrape reads the processes once. Between scrapes it only watches for page faults, for a
minute at most.

Processes of other users need root, or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH. Complete
counts of context switches and waiting need CAP_NET_ADMIN in the PID namespace of the
machine. What is missing is printed at the start, and is a metric.

procfit's repository has alert rules (deploy/prometheus/alerts.yaml) and a dashboard
(deploy/grafana/procfit.json) for these metrics.

Everyone who can connect sees names of programs. By default only this machine can; for a
Prometheus elsewhere, listen on a network of your own. It runs until it is interrupted.`,
		Example: `  procfit exporter
  procfit exporter --listen :9877 --name '^(api|worker)'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), std)
		},
	}, append([]field.Field{
		{Name: "listen", Holds: "ADDRESS", Help: "address to listen at; port 0 takes a free one", Value: field.Parsed(&o.listen, o.listen, metricsAddress)},
		{Name: "max-processes", Holds: "N", Help: "processes to export, those with the most CPU time; the rest is counted", Value: field.Number(&o.maxProcesses, 1, math.MaxInt)},
		{Name: "name", Holds: "REGEXP", Help: "export only processes whose name this regular expression matches", Value: field.Parsed(&o.name, "", ps.Name)},
		{Name: "containers", Holds: "DIR", Help: "folder whose links name pods and containers: /var/log/containers", Value: field.Parsed(&o.containers, "", readable)},
	}, o.out.fields("")...))
}

func metricsAddress(text string) (string, error) {
	_, service, err := net.SplitHostPort(text)
	if err == nil {
		_, err = net.LookupPort("tcp", service)
	}
	if err != nil {
		return "", fmt.Errorf("%q: expected HOST:PORT or :PORT, such as 127.0.0.1:9877", text)
	}
	return text, nil
}

func readable(folder string) (string, error) {
	_, err := os.ReadDir(folder)
	return folder, err
}

func (o *exporterOptions) run(ctx context.Context, std stdio) error {
	std = o.out.std(std)
	scanner, err := observe.NewScanner()
	if err != nil {
		return err
	}
	defer scanner.Close()
	scanner.Except = os.Getpid()
	listener, err := listenOn(ctx, o.listen)
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
		MaxProcesses: o.maxProcesses, Name: o.name, Containers: containers, Version: version(), Logf: std.notef,
		Scan: func(ctx context.Context) (observe.Snapshot, error) {
			snap, err := scanner.Scan(ctx)
			if err != nil {
				return snap, err
			}
			if first {
				first = false
				o.tell(std, snap)
			}
			return snap, nil
		},
	})
	defer e.Close()
	if err := e.FirstScan(ctx); err != nil {
		return err
	}
	std.notef("serving http://%s/metrics", browsable(listener.Addr()))
	return exporter.Serve(ctx, listener, e.Handler())
}

func listenOn(ctx context.Context, addr string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("--listen %s: permission denied; give a port above 1023, or run with CAP_NET_BIND_SERVICE", addr)
	case !errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--listen: %w", err)
	}
	_, service, _ := net.SplitHostPort(addr)
	if port, lookup := net.LookupPort("tcp", service); lookup == nil {
		_, who := observe.Listener(port, nil)
		if taken, ok := errors.AsType[*observe.TakenError](who); ok {
			return nil, fmt.Errorf("--listen %s: %w; give another port", addr, taken)
		}
	}
	return nil, fmt.Errorf("--listen: %w; give another port", err)
}

// browsable is the address with a host that a browser on this machine can go to.
func browsable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return addr.String()
}

func (o *exporterOptions) tell(std stdio, snap observe.Snapshot) {
	std.notef("%s", phrase.Count(len(snap.Processes), "Go process"))
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
