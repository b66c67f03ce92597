package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/inspect/explain"
	"github.com/procfit/procfit/internal/inspect/ps"
	"github.com/procfit/procfit/internal/inspect/watch"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

type psOptions struct {
	fieldFlags
	out      printing
	selected ps.Selection
	ports    []string // of a view that continues: who listens there may change
	interval time.Duration
	sort     string
	watch    bool
}

func newPS(std stdio) *cobra.Command {
	o := psOptions{out: printed("text", wide, "json", jsonLines), interval: time.Second, sort: "findings"}
	return o.bind(std, &cobra.Command{
		Use:   "ps [flags] [PID|NAME|:PORT…]",
		Short: "List the Go processes of this machine and their GOMAXPROCS",
		Long: `List the Go processes of this machine, or those that you name, with the GOMAXPROCS that
each one uses and should use. procfit reads the value from their memory: it does not stop
them and writes nothing to them.

A number is a process ID, and :8080 each process that listens there. Anything else is a
regular expression that matches anywhere in the name: check matches checkout, '^api$' only
api.

` + columnHelp() + `
CPU USE, WAITING, SWITCHES and the SCHED columns are counted over the interval. With
--interval 0s they are counted since the process started, and THROTTLED since its cgroup
was created. A narrow terminal and a pipe show fewer columns; -o wide shows all.

Processes of other users need root, or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH. If one
that you name by its process ID cannot be read, the exit code is 3. procfit lists neither
itself nor another procfit that sends a load or changes a program.`,
		Example: `  procfit ps
  procfit ps --interval 0s --sort sched_p99 -o wide
  procfit ps api '^check'
  procfit ps --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.parse(args); err != nil {
				return err
			}
			return o.run(cmd.Context(), std)
		},
	}, append(field.In(field.Output,
		field.Field{Name: "interval", Holds: "TIME", Help: "time to count over; 0s: from the start of each process", Value: field.Time(&o.interval, 0, "1s")},
		field.Field{Name: "sort", Holds: "COLUMN", Help: "column to sort by: procs, cpu_use, throttled, limit, …", More: "Columns are " + strings.Join(inspect.Names(), ", ") + ".", Value: field.Choice(&o.sort, inspect.Names()...)},
		toggle("watch", &o.watch, "show a live view; ? shows its keys"),
	), o.out.fields("print procfit.ps/v1: the same as -o json")...))
}

// The formats of ps alone: one JSON object a line, and a table of all columns.
const (
	jsonLines = "json-lines"
	wide      = "wide"
)

func columnHelp() string {
	b := terminal.Writer{Width: 80}
	for _, c := range inspect.Columns() {
		b.Folded(fmt.Sprintf("  %-9s  %s", c.Heading(), c.Help), strings.Repeat(" ", 13))
	}
	return b.String()
}

func (o *psOptions) parse(args []string) error {
	var words []string
	for _, word := range args {
		found, byPort, err := listener(word)
		if err != nil {
			return err
		}
		words = append(words, phrase.Each(found, func(one observe.Standing) string { return strconv.Itoa(one.PID) })...)
		switch {
		case !byPort:
			words = append(words, word)
		case o.watch:
			o.ports = append(o.ports, word)
		}
	}
	var err error
	o.selected, err = ps.Select(words)
	switch {
	case err != nil:
		return usageError("%w", err)
	case o.watch && o.out.format() == wide:
		return usageError("--watch shows what fits on the screen: use it without -o wide")
	case o.watch && o.out.json():
		return usageError("--watch prints more than one JSON document: use -o json-lines")
	case o.watch && o.interval == 0:
		return usageError("--watch needs an --interval above 0, such as 1s")
	}
	return o.check()
}

func (o *psOptions) run(ctx context.Context, std stdio) error {
	scanner, err := observe.NewScanner()
	if err != nil {
		return err
	}
	defer scanner.Close()
	scanner.Except = os.Getpid()
	if !o.watch { // it ends before a larger heap is worth collecting
		defer debug.SetGCPercent(debug.SetGCPercent(300))
	}
	if err := noThreads("procfit ps PID", o.selected.PIDs); err != nil {
		return err
	}
	width := columns(std.out)
	scanner.Uncounted = !o.watch && o.out.format() == "text" && !slices.ContainsFunc(inspect.Columns(), func(c inspect.Column) bool {
		return c.Threads && (ps.Shows(c, width) || c.Name == o.sort)
	})
	scan := o.scanFunc(scanner)
	switch {
	case o.watch && o.out.format() == jsonLines:
		return o.stream(ctx, std, scan)
	case o.watch:
		return o.live(ctx, std, scan)
	}
	snap, err := o.once(ctx, scanner, scan)
	if err != nil {
		return err
	}
	inspect.Sort(snap.Processes, o.sort)
	switch format := o.out.format(); format {
	case "text":
		err = ps.WriteText(std.out, snap, std.color(), width)
	case wide:
		err = ps.WriteText(std.out, snap, std.color(), ps.Wide)
	default:
		err = ps.WriteJSON(std.out, snap, format == "json")
	}
	if err != nil {
		return err
	}
	return o.tell(std, snap)
}

func (o *psOptions) scanFunc(scanner *observe.Scanner) scanFunc {
	if o.selected.All() {
		return func(ctx context.Context) (observe.Snapshot, error) { return scanner.Scan(ctx) }
	}
	return func(ctx context.Context) (observe.Snapshot, error) {
		pids := slices.Clone(o.selected.PIDs)
		for _, port := range o.ports {
			found, _, _ := listener(port) // none, as between the end of a server and its next start
			for _, one := range found {
				pids = append(pids, one.PID)
			}
		}
		return scanner.ScanNamed(ctx, pids, o.selected.Named)
	}
}

func (o *psOptions) once(ctx context.Context, scanner *observe.Scanner, scan scanFunc) (observe.Snapshot, error) {
	scanner.Unjudged = o.interval > 0
	snap, err := scan(ctx)
	if err != nil || o.interval == 0 {
		return snap, err
	}
	scanner.Unjudged = false
	if err := wait.For(ctx, o.interval); err != nil {
		return observe.Snapshot{}, err
	}
	return scan(ctx)
}

type scanFunc func(context.Context) (observe.Snapshot, error)

// stream prints a line each interval; an interrupt is its regular end.
func (o *psOptions) stream(ctx context.Context, std stdio, scan scanFunc) error {
	err := o.first(ctx, std, scan)
	for err == nil {
		if err = wait.For(ctx, o.interval); err != nil {
			break
		}
		var snap observe.Snapshot
		if snap, err = scan(ctx); err == nil {
			inspect.Sort(snap.Processes, o.sort)
			err = ps.WriteJSON(std.out, snap, false)
		}
	}
	return err
}

// first scans for a view that continues. If none of the given PIDs is there to be watched,
// that is the error; a process of a given name may start later.
func (o *psOptions) first(ctx context.Context, std stdio, scan scanFunc) error {
	snap, err := scan(ctx)
	if err != nil || o.selected.All() || len(o.selected.Names) > 0 || len(snap.Processes) > 0 {
		return err
	}
	return o.tell(std, snap)
}

// tell says what the list cannot: what could not be read, and why. Of processes
// that were asked for by name it is the error.
func (o *psOptions) tell(std stdio, snap observe.Snapshot) error {
	var failed []error
	for _, pid := range o.selected.PIDs {
		switch i := slices.IndexFunc(snap.Unreadable, func(u observe.Unreadable) bool { return u.PID == pid }); {
		case i >= 0:
			failed = append(failed, errors.New(phrase.Clean(snap.Unreadable[i].Reason)))
		case !slices.ContainsFunc(snap.Processes, func(p observe.Process) bool { return p.PID == pid }):
			failed = append(failed, fmt.Errorf("process %d: %w", pid, whyMissing(snap, pid)))
		}
	}
	for _, name := range o.selected.Missing(snap) {
		failed = append(failed, noProcess(name.String()))
	}
	notes := o.out.std(std)
	if len(o.selected.PIDs) == 0 {
		for _, line := range ps.Unread(snap) {
			notes.notef("%s", line)
		}
	}
	if snap.CountersWhy != nil && len(snap.Processes) > 0 {
		notes.notef("switches and waiting are counted thread by thread, without those that have ended: %v; CAP_NET_ADMIN allows taskstats", snap.CountersWhy)
	}
	return reportedButLast(std, failed)
}

func whyMissing(snap observe.Snapshot, pid int) error {
	if slices.Contains(snap.NotGo, pid) {
		return fmt.Errorf("%w; procfit explain PID shows its limits", observe.ErrNotGo)
	}
	return observe.ErrNoProcess
}

func (o *psOptions) live(ctx context.Context, std stdio, scan scanFunc) error {
	if err := o.first(ctx, std, scan); err != nil {
		return err
	}
	return watch.Run(ctx, watch.Options{
		Scan: scan, Interval: o.interval, Sort: o.sort, Explain: explainProcess,
		In: std.in, Out: std.out, Color: std.color(),
	})
}

func explainProcess(p observe.Process) string {
	var b strings.Builder
	// A Builder takes everything.
	_ = explain.New(p.Subject, explain.Process(p.Subject), "").WriteText(&b, false, 0)
	return b.String()
}
