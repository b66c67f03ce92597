// Package exporter serves what a scan of all Go processes saw as Prometheus
// metrics.
//
// # Model
//
// Each scrape scans the processes once. Scrapes that come during a scan, or within a
// second after it, share its result. A scan for which nobody waits any longer is stopped.
// A scan that takes nearly as long as the scrapes can wait ends early: it reads known
// programs first, and counts the processes that it did not reach as unreadable, with the
// reason time. [families] lists all metrics, with units in their names. PID and name
// together identify a process on its machine.
//
// # Limits
//
//   - Label sets are bounded: at most MaxProcesses processes, those that have used
//     the most CPU time, and for each its four nearest cgroups with a limit. Names
//     are shortened and made valid UTF-8.
//   - Counters never fall while a process lives and the exporter runs. Without
//     taskstats, the kernel's counters are sums over living threads, which fall when
//     a thread ends; the exporter then adds the differences between scans, and misses
//     what a thread did between the last scan and its end.
//   - A process that starts and ends between two scrapes is not seen.
package exporter

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"regexp"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/procfit/procfit/internal/host/container"
	"github.com/procfit/procfit/internal/program/observe"
)

const DefaultMaxProcesses = 1000

type Options struct {
	Scan         func(context.Context) (observe.Snapshot, error) // never called concurrently
	MaxProcesses int                                             // to export; 0: the default
	Name         *regexp.Regexp                                  // nil: all names
	Containers   fs.FS                                           // links to their logs, see container.Logs; nil: not on a Kubernetes node
	Version      string                                          // of procfit
	Logf         func(format string, args ...any)                // logs errors; nil: none are logged

	now func() time.Time
}

// Exporter is a prometheus.Collector of the last scan. Close it when nobody scrapes any
// longer.
type Exporter struct {
	options    Options
	counters   counters // of one scan at a time
	ok, failed atomic.Int64

	mu     sync.Mutex
	flight *flight
	last   view      // of the last successful scan; nil before the first
	at     time.Time // of last
}

// New makes an Exporter. It scans on request, see Handler.
func New(o Options) *Exporter {
	o.MaxProcesses = cmp.Or(o.MaxProcesses, DefaultMaxProcesses)
	if o.now == nil {
		o.now = time.Now
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	return &Exporter{options: o, counters: counters{}}
}

const firstScan = 10 * time.Second

// FirstScan reads the files of all programs, so that no scrape has to wait for that. Its
// time is limited, so that a slow scan does not keep the exporter from serving: what it has
// not read by then is left to the scrapes.
func (e *Exporter) FirstScan(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, firstScan)
	defer cancel()
	err := e.refresh(limited)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

func (e *Exporter) scan(ctx context.Context) (view, error) {
	began := e.options.now()
	snap, err := e.options.Scan(ctx)
	if err != nil {
		e.failed.Add(1)
		return nil, err
	}
	e.ok.Add(1)
	var containers map[string]container.Name // by their identity
	if e.options.Containers != nil {
		if containers, err = container.Logs(e.options.Containers); err != nil {
			e.options.Logf("cannot read the names of containers: %v", err)
		}
	}
	v := e.view(snap, containers)
	v.add(scanDuration, e.options.now().Sub(began).Seconds())
	return v, nil
}

// Describe implements prometheus.Collector.
func (e *Exporter) Describe(descs chan<- *prometheus.Desc) {
	for _, f := range families {
		descs <- f.desc
	}
}

// Collect implements prometheus.Collector.
func (e *Exporter) Collect(metrics chan<- prometheus.Metric) {
	metrics <- buildInfo.metric(1, clean(cmp.Or(e.options.Version, unknown), longestName), runtime.Version())
	metrics <- scans.metric(float64(e.ok.Load()), "ok")
	metrics <- scans.metric(float64(e.failed.Load()), "failed")
	e.mu.Lock()
	last := e.last
	e.mu.Unlock()
	for _, m := range last {
		metrics <- m
	}
}
