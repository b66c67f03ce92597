package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/inspect/explain"
	"github.com/procfit/procfit/internal/inspect/ps"
	"github.com/procfit/procfit/internal/inspect/watch"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

// psOptions are the flags of procfit ps.
type psOptions struct {
	selected  ps.Selection
	interval  time.Duration
	sort      string
	watch     bool
	json      bool
	jsonLines bool
}

func newPS(std stdio) *cobra.Command {
	var o psOptions
	cmd := &cobra.Command{
		Use:   "ps [flags] [PID|NAME…]",
		Short: "What every Go process on this machine really runs with",
		Long: `List the Go processes of this machine, or those named, with the GOMAXPROCS that
each really runs with. Nothing is asked of them: the value is read from their
memory, they are not stopped, and nothing is written to them.

A number names a process by its ID. Anything else is a regular expression, which
finds a match anywhere in the name: check finds checkout, '^api$' only api.

` + columnHelp() + `
CPU USE, WAITING, SWITCHES and the SCHED columns are those of the interval; with
--interval 0 since the process began, and THROTTLED since its group was made. On a
narrow terminal the columns needed least are left out.

Processes of other users are read as root or with CAP_SYS_PTRACE. procfit itself is
left out.`,
		Example: `  procfit ps
  procfit ps --interval 0 --sort sched_p99
  procfit ps api '^check'
  procfit ps --json 1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.parse(cmd, args); err != nil {
				return err
			}
			return o.run(cmd.Context(), std)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.DurationVar(&o.interval, "interval", time.Second, "`time` to count over; 0: from the beginning of each process")
	f.StringVar(&o.sort, "sort", "findings", "`column` to sort by: "+strings.Join(inspect.Names(), ", "))
	f.BoolVar(&o.watch, "watch", false, "a live view of the whole screen; ? shows its keys")
	f.BoolVar(&o.json, "json", false, "print procfit.ps/v1")
	f.BoolVar(&o.jsonLines, "json-lines", false, "print procfit.ps/v1 in one line; with --watch one each interval, until interrupted")
	return cmd
}

// columnHelp says what each column is.
func columnHelp() string {
	b := terminal.Writer{Width: 80}
	for _, c := range inspect.Columns() {
		b.Folded(fmt.Sprintf("  %-9s  %s", c.Heading(), c.Help), strings.Repeat(" ", 13))
	}
	return b.String()
}

func (o *psOptions) parse(cmd *cobra.Command, args []string) error {
	var err error
	o.selected, err = ps.Select(args)
	switch {
	case err != nil:
		return usageError("%w", err)
	case o.interval < 0:
		return usageError("--interval %v: want a time, or 0 for the whole life of the processes", o.interval)
	case !slices.Contains(inspect.Names(), o.sort):
		return usageError("--sort %q: known are %s", o.sort, strings.Join(inspect.Names(), ", "))
	case o.json && o.jsonLines:
		return usageError("--json and --json-lines exclude each other")
	case o.json && o.watch:
		return usageError("--watch prints no single JSON document: use --json-lines")
	case o.watch && o.interval == 0:
		return usageError("--watch needs an interval above 0")
	}
	return nil
}

func (o *psOptions) run(ctx context.Context, std stdio) error {
	scanner, err := observe.NewScanner()
	if err != nil {
		return err
	}
	defer scanner.Close()
	for _, pid := range o.selected.PIDs {
		if leader, err := observe.ThreadGroup(pid); err == nil && leader != pid {
			return usageError("%d is a thread of process %d: name that", pid, leader)
		}
	}
	scan := o.scanFunc(scanner)
	switch {
	case o.watch && o.jsonLines:
		return o.stream(ctx, std, scan)
	case o.watch:
		return o.live(ctx, std, scan)
	}
	snap, err := o.once(ctx, scan)
	if err != nil {
		return err
	}
	inspect.Sort(snap.Processes, o.sort)
	if o.json || o.jsonLines {
		err = ps.WriteJSON(std.out, snap, o.json)
	} else {
		err = ps.WriteText(std.out, snap, std.color(), width(std))
	}
	if err != nil {
		return err
	}
	return o.tell(std, snap)
}

// scanFunc looks at what was selected; procfit itself is left out where its PID is
// not given.
func (o *psOptions) scanFunc(scanner *observe.Scanner) scanFunc {
	return func(ctx context.Context) (snap observe.Snapshot, err error) {
		if len(o.selected.Names) > 0 {
			snap, err = scanner.ScanNamed(ctx, o.selected.PIDs, o.selected.Named)
		} else {
			snap, err = scanner.Scan(ctx, o.selected.PIDs...)
		}
		if self := os.Getpid(); !slices.Contains(o.selected.PIDs, self) {
			snap.Processes = slices.DeleteFunc(snap.Processes, func(p observe.Process) bool { return p.PID == self })
		}
		return snap, err
	}
}

// once scans, and again after the interval.
func (o *psOptions) once(ctx context.Context, scan scanFunc) (observe.Snapshot, error) {
	snap, err := scan(ctx)
	if err != nil || o.interval == 0 {
		return snap, err
	}
	if err := pause(ctx, o.interval); err != nil {
		return observe.Snapshot{}, err
	}
	return scan(ctx)
}

type scanFunc func(context.Context) (observe.Snapshot, error)

// stream prints a line each interval until it is interrupted, which is its
// regular end.
func (o *psOptions) stream(ctx context.Context, std stdio, scan scanFunc) error {
	err := o.first(ctx, std, scan)
	for err == nil {
		if err = pause(ctx, o.interval); err != nil {
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

// first scans for a view that goes on. Where nothing is there to be watched of what
// was given by PID alone, that is the error; one with a name may yet begin.
func (o *psOptions) first(ctx context.Context, std stdio, scan scanFunc) error {
	snap, err := scan(ctx)
	if err != nil || o.selected.All() || len(o.selected.Names) > 0 || len(snap.Processes) > 0 {
		return err
	}
	return o.tell(std, snap)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// tell says what the list cannot: what could not be read, and why. Of processes
// that were asked for by name it is the error.
func (o *psOptions) tell(std stdio, snap observe.Snapshot) error {
	var failed []error
	for _, pid := range o.selected.PIDs {
		switch i := slices.IndexFunc(snap.Unreadable, func(u observe.Unreadable) bool { return u.PID == pid }); {
		case i >= 0:
			std.notef("%s", phrase.Clean(snap.Unreadable[i].Reason))
		case !slices.ContainsFunc(snap.Processes, func(p observe.Process) bool { return p.PID == pid }):
			failed = append(failed, fmt.Errorf("process %d: %w", pid, missing(snap, pid)))
		}
	}
	for _, name := range o.selected.Missing(snap) {
		failed = append(failed, fmt.Errorf("no Go process has a name in which %q finds a match", name))
	}
	if len(o.selected.PIDs) == 0 {
		for _, line := range ps.Unread(snap) {
			std.notef("%s", line)
		}
	}
	if snap.CountersWhy != nil && len(snap.Processes) > 0 {
		std.notef("switches and waiting are counted thread by thread, without those that have ended: %v; CAP_NET_ADMIN allows taskstats", snap.CountersWhy)
	}
	for i, err := range failed {
		if i == len(failed)-1 {
			return err
		}
		std.notef("%v", err)
	}
	return nil
}

// missing is why a process that was asked for is not in the list.
func missing(snap observe.Snapshot, pid int) error {
	if slices.Contains(snap.NotGo, pid) {
		return fmt.Errorf("%w; procfit explain --pid tells of its limits", observe.ErrNotGo)
	}
	return observe.ErrNoProcess
}

// live is the view of the whole screen.
func (o *psOptions) live(ctx context.Context, std stdio, scan scanFunc) error {
	if err := o.first(ctx, std, scan); err != nil {
		return err
	}
	return watch.Run(ctx, watch.Options{
		Scan: scan, Interval: o.interval, Sort: o.sort, Explain: explainProcess,
		In: std.in, Out: std.out, Color: std.color(),
	})
}

// explainProcess is what procfit explain --pid prints.
func explainProcess(p observe.Process) string {
	var b strings.Builder
	// A Builder takes everything.
	_ = explain.New(p.Subject, explain.Process(p.Subject), "").WriteText(&b, false, 0)
	return b.String()
}

// width is that of the terminal, 0 where there is none.
func width(std stdio) int {
	f, ok := std.out.(*os.File)
	if !ok {
		return 0
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}
