package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/host/sockets"
	"github.com/procfit/procfit/internal/inspect/explain"
	"github.com/procfit/procfit/internal/inspect/ps"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/meter"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/program/steer"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

type setOptions struct {
	fieldFlags
	out  printing
	yes  bool
	hold time.Duration // 0: until the program ends
}

func newSet(std stdio) *cobra.Command {
	o := setOptions{out: printed("text", "json")}
	return o.bind(std, &cobra.Command{
		Use:   "set [flags] PID|NAME|:PORT N|auto|recommended",
		Short: "Change the GOMAXPROCS of a running program, without a restart",
		Long: `Change the GOMAXPROCS of a running Go program: procfit has it call runtime.GOMAXPROCS.
The program needs no code for this, no symbols and no restart. One of its goroutines is
held: for about 1 ms where a CPU is free, often for 10 to 100 ms on a busy machine. The
runtime stops all of them while it changes the value, as for any call of that function.
procfit prints how long both took.

N is 1 to 4096. recommended is the value that procfit explain PID recommends; a program
whose value is ok by procfit ps keeps it. auto has the runtime follow the CPU limit again;
before Go 1.25, which never follows it, auto sets the value that the runtime would choose
by itself.

The value lasts until the program ends or sets another one. With --for, procfit waits and
gives the old value back at the end, at Ctrl-C, and if procfit is killed. With --for, a
program that calls live.Allow of maxprocs/live gets a lease instead of a call: it sets
both values itself, and may refuse.

It needs Linux on amd64 or arm64, a program built with Go 1.17 or later (arm64: 1.18), and
the right to trace the program: root, the same user unless kernel.yama.ptrace_scope
forbids it, or CAP_SYS_PTRACE and CAP_DAC_OVERRIDE. A process that is already traced, one
that another procfit lends a value, and one that has nothing to do for 10 s are left
alone; procfit prints which request would wake the last, and sends none.`,
		Example: `  procfit set 4242 2
  procfit set '^api$' recommended --yes
  procfit set 4242 1 --for 10m
  procfit set 4242 auto`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), std, args) },
	}, append([]field.Field{
		{Name: "for", Holds: "TIME", Help: "give the old value back after this time: 10m", Value: field.Time(&o.hold, 1, "10m")},
		{Name: "yes", Help: "do not ask", Value: field.Switch(&o.yes)},
	}, o.out.fields("print procfit.set/v1")...))
}

const ( // values that are not numbers
	setAuto        = "auto"
	setRecommended = "recommended"
)

// valueChange is what is to be done to one process.
type valueChange struct {
	subject rule.Subject
	program steer.Program
	sized   []string // what in the program keeps the size of its start
	module  string   // its main module
	value   steer.Value
	before  steer.Value
	counted bool   // its Meter counts its requests
	most    int    // the highest value of a lease; 0: it allows none
	leases  bool   // it allows leases
	follows bool   // its runtime can follow its limits
	nothing string // why there is nothing to change
}

func (o *setOptions) run(ctx context.Context, std stdio, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if len(args) != 2 {
		return usageError("set takes a process and a value, got %s; try: procfit set PID recommended", phrase.Count(len(args), "word"))
	}
	n, err := setValue(args[1])
	if err != nil {
		return err
	}
	pid, err := oneProcess(ctx, "procfit set PID "+args[1], args[0])
	if err != nil {
		return err
	}
	if pid == os.Getpid() {
		return usageError("%d is procfit itself", pid)
	}
	c, err := decideValue(ctx, pid, args[1], n)
	if err != nil {
		return err
	}
	m, err := new(meter.Reader).Open(pid)
	if err == nil {
		defer m.Close()
		s, err := m.State()
		c.leases = err == nil && s.Allowed
	}
	if c.nothing != "" {
		d := c.blank()
		d.Note = c.nothing + "; nothing was changed"
		return o.print(std, d)
	}
	if o.hold != 0 {
		if err := c.lendable("--for", fmt.Sprintf("; to set the value until the program ends: procfit set %d %d", c.subject.PID, c.value.Procs)); err != nil {
			return err
		}
	}
	if err := o.agreed(ctx, std, c, args); err != nil {
		return err
	}
	if err = c.unlent("set"); o.hold != 0 {
		err = c.settled("--for")
	}
	if err != nil {
		return err
	}
	if o.byLease(c) {
		return o.lease(ctx, std, c, m)
	}
	return o.change(ctx, std, c)
}

// byLease reports whether the program sets the value itself. A lease ends, and has a number.
func (o *setOptions) byLease(c valueChange) bool { return c.leases && o.hold != 0 && !c.value.Auto }

// setValue reads a number; 0: it is one of the words.
func setValue(text string) (int, error) {
	if text == setAuto || text == setRecommended {
		return 0, nil
	}
	n, err := field.Whole(1, steer.Most)(text)
	if err != nil {
		return 0, usageError("%q is not a GOMAXPROCS: expected 1 to %d, auto or recommended", text, steer.Most)
	}
	return n, nil
}

// oneProcess is the one process that is meant. PID in the command is where it belongs.
func oneProcess(ctx context.Context, command, word string) (int, error) {
	found, err := processes(ctx, command, word)
	switch {
	case err != nil:
		return 0, err
	case len(found) > 1:
		return 0, usageError("%q matches %s: name one by its process ID: %s", word, phrase.Count(len(found), "process"), phrase.And(listed(found)))
	}
	return found[0].pid, noThreads(command, []int{found[0].pid})
}

// noThreads refuses the ID of a thread, which has a directory in /proc as a process has. PID in
// the command is where the process belongs.
func noThreads(command string, pids []int) error {
	for _, pid := range pids {
		if leader, err := procstat.ThreadGroup(pid); err == nil && leader != pid {
			return usageError("%d is a thread of process %d; try: %s", pid, leader, strings.Replace(command, "PID", strconv.Itoa(leader), 1))
		}
	}
	return nil
}

// named is a process that a word means; by its ID it may not exist, or not be Go's.
type named struct {
	pid  int
	name string // empty: it was found by its ID
}

func listed(all []named) []string {
	return phrase.Each(all, func(p named) string { return fmt.Sprintf("%d (%s)", p.pid, phrase.Clean(p.name)) })
}

// processes are those that a word means, one at least: by its ID, its port or its name.
func processes(ctx context.Context, command, word string) ([]named, error) {
	listening, byPort, err := listener(word)
	var found []named
	for _, one := range listening {
		found = append(found, named{one.PID, one.Name})
	}
	if err != nil || byPort {
		return found, err
	}
	selected, err := ps.Select([]string{word})
	if err != nil {
		return nil, usageError("%w", err)
	}
	if len(selected.PIDs) == 1 {
		return []named{{pid: selected.PIDs[0]}}, nil
	}
	scanner, err := observe.NewScanner()
	if err != nil {
		return nil, err
	}
	defer scanner.Close()
	scanner.Except = os.Getpid()
	snap, err := scanner.ScanNamed(ctx, nil, selected.Named)
	if err != nil {
		return nil, err
	}
	for _, p := range snap.Processes {
		found = append(found, named{p.PID, p.Name})
	}
	if u, err := url.Parse(word); found == nil && err == nil && u.Port() != "" {
		return nil, usageError("%q is a URL: name the process by its port: %s", word, strings.Replace(command, "PID", ":"+u.Port(), 1))
	}
	if found == nil {
		return nil, noProcess(word)
	}
	return found, nil
}

func noProcess(name string) error {
	return fmt.Errorf("no Go process matches %q; to list all of them: procfit ps", name)
}

// listener are the processes that listen at the port of a word such as :8080.
func listener(word string) (found []observe.Standing, byPort bool, err error) {
	number, byPort := strings.CutPrefix(word, ":")
	if !byPort {
		return nil, false, nil
	}
	port, err := field.Whole(1, 65535)(number)
	if err != nil {
		return nil, true, usageError("%q is not a port: expected 1 to 65535, as in :8080", word)
	}
	if found, err = observe.StandAt(port); err != nil {
		return nil, true, fmt.Errorf("%w; to list the Go programs that run: procfit ps", err)
	}
	return found, true, nil
}

// identified reads a process and the program that it runs, without a value that is to be set.
func identified(pid int) (valueChange, error) {
	program, unknown := steer.Identify(pid) // before all else is read: what is read later is of this program, or nothing is set
	reader := new(observe.Reader)
	s, err := reader.Subject(pid)
	switch {
	case err != nil:
		return valueChange{}, err
	case s.NotGo:
		return valueChange{}, fmt.Errorf("%s is %w", explain.Process(s), observe.ErrNotGo)
	case s.ProgramUnknown != "":
		return valueChange{}, errors.New(s.ProgramUnknown)
	case unknown != nil:
		return valueChange{}, fmt.Errorf("process %d: its program cannot be identified: %w", pid, unknown)
	}
	c := valueChange{subject: s, program: program, follows: s.FollowsChanges() && s.Custom != nil}
	if p, err := reader.Program(pid); err == nil {
		c.sized, c.module = p.SizedAtStart(), p.MainModule
	}
	if s.Live != nil {
		c.before = steer.Value{Procs: *s.Live, Auto: s.Custom != nil && !*s.Custom}
	}
	return c, nil
}

func decideValue(ctx context.Context, pid int, word string, n int) (valueChange, error) {
	c, err := identified(pid)
	if err != nil {
		return valueChange{}, err
	}
	s := c.subject
	c.value = steer.Value{Procs: n}
	switch word {
	case setRecommended:
		s = observe.Watched(ctx, s) // which programs share its limits
		c.subject = s
		e := explain.New(s, explain.Process(s), "")
		if c.value.Procs, err = e.Value(); err != nil {
			return valueChange{}, fmt.Errorf("nothing was changed: %w; procfit explain %d has every step", err, pid)
		}
		if unknown := e.Unknown(); len(unknown) > 0 {
			return valueChange{}, fmt.Errorf("nothing was changed: %s, so %s; name a number", phrase.Clean(unknown[0]), e.Uncertain(c.value.Procs))
		}
	case setAuto:
		c.value = steer.Value{Procs: s.Unset(), Auto: s.Custom != nil}
		if unknown := s.Facts.Unknown(); len(unknown) > 0 {
			return valueChange{}, fmt.Errorf("nothing was changed: which value its runtime would choose is not known (%s); name a number", phrase.Clean(strings.Join(unknown, "; ")))
		}
		if s.Unset() < 1 {
			return valueChange{}, errors.New("nothing was changed: its runtime would choose no value, but crash at its start (procfit explain PF014); name a number")
		}
	}
	c.nothing = c.already(word)
	if c.nothing == "" {
		return c, c.unlent("set")
	}
	if until, wake := lent(pid); until != "" {
		c.nothing = fmt.Sprintf("procfit lends it this value%s, and then gives the one before back; to keep this one, end that procfit with Ctrl-C, or, if it has ended, %s; then repeat the command", until, wake)
	}
	return c, nil
}

// lent is until when another procfit lends a process a value, as " until 14:32", and what brings the old
// one back if that procfit has ended; empty: none does.
func lent(pid int) (until, wake string) {
	at, leased := new(observe.Reader).Lent(pid)
	return rule.Observed{LentUntil: at, Leased: leased}.Lent(), phrase.If(leased, "wait "+number.Chosen(meter.LongestLease), "send the program a request")
}

// already is why there is nothing to change; empty: there is.
func (c valueChange) already(word string) string {
	n := c.value.Procs
	switch {
	case c.subject.Live == nil:
		return ""
	case word == setAuto && c.before.Auto && c.follows:
		return fmt.Sprintf("its runtime already follows its CPUs and its limit, with GOMAXPROCS=%d", c.before.Procs)
	case word == setAuto && c.before.Auto && n == c.before.Procs:
		return fmt.Sprintf("it already uses GOMAXPROCS=%d, which its runtime chose", n)
	case word == setRecommended && n != c.before.Procs && c.subject.Good():
		return fmt.Sprintf("it already uses GOMAXPROCS=%d, which is a good value for its CPUs", c.before.Procs)
	case c.value.Auto || n != c.before.Procs:
		return ""
	case c.before.Auto:
		return fmt.Sprintf("it already uses GOMAXPROCS=%d, which its runtime chose; to keep it at that, set GOMAXPROCS=%d in its environment", n, n)
	}
	return fmt.Sprintf("it already uses GOMAXPROCS=%d", n)
}

// unlent is nil if what the process has now is its own value, which is lost if another one takes the
// place of a loan.
func (c valueChange) unlent(what string) error {
	until, wake := lent(c.subject.PID)
	if until == "" {
		return nil
	}
	return fmt.Errorf("process %d: procfit lends it a value%s, and %s needs the program's own one: wait, or end that procfit with Ctrl-C; if it has ended, %s, so that the old value can come back", c.subject.PID, until, what, wake)
}

// lendable is nil if what the process has now can be given back, as what asks for it needs.
func (c valueChange) lendable(what, otherwise string) error {
	if err := c.unlent(what); err != nil {
		return err
	}
	switch {
	case c.before.Procs == 0:
		return fmt.Errorf("process %d: %s needs the value that it uses now, which could not be read: %s", c.subject.PID, what, phrase.Clean(c.subject.LiveUnknown))
	case c.subject.FollowsChanges() && c.subject.Custom == nil: // a number would end the following
		return fmt.Errorf("process %d: %s needs to know whether its runtime follows its CPU limit, as it may from Go 1.25 on, and that could not be read%s", c.subject.PID, what, otherwise)
	}
	return nil
}

// settled is nil if the process still has what was read before somebody was asked: that is what it
// gets back.
func (c valueChange) settled(what string) error {
	now, err := identified(c.subject.PID)
	if err == nil {
		err = now.lendable(what, "")
	}
	if err == nil && (now.program != c.program || now.before != c.before) {
		err = fmt.Errorf("process %d: the program, or its GOMAXPROCS, changed since procfit read it: repeat the command", c.subject.PID)
	}
	return err
}

const heldByCall = "one goroutine is held, for about 1 ms where a CPU is free, often for 10 to 100 ms on a busy machine, seldom for seconds on an overloaded one, and kill -9 of procfit's tracer in that time would end the program"

func (o *setOptions) agreed(ctx context.Context, std stdio, c valueChange, args []string) error {
	how := "procfit has it call runtime.GOMAXPROCS: " + heldByCall
	switch {
	case o.byLease(c):
		how = fmt.Sprintf("it allows leases and sets the value itself; its own value comes back at the end, and within %s if procfit is killed", number.Chosen(meter.LongestLease))
	case c.leases:
		how += "; it allows leases, but a lease is a number, and ends: with --for it sets the value itself"
	}
	when := "now"
	if o.hold != 0 {
		when = "for " + number.Chosen(o.hold)
		args = append(args, "--for", number.Typed(o.hold))
	}
	return agreed(ctx, std, o.yes, "procfit set "+phrase.Shell(args), fmt.Sprintf("%s: %s %s; %s", explain.Process(c.subject), c.words(), when, how))
}

// lease has the program set the value, and renews the lease until the time is over.
func (o *setOptions) lease(ctx context.Context, std stdio, c valueChange, m *meter.Program) error {
	// A program that has no lease looks for one once a second, on a busy machine later.
	const shortest = 5 * time.Second
	now, err := m.Lease(ctx, c.value.Procs, max(o.hold, shortest))
	if err != nil {
		return err
	}
	end := time.Now().Add(o.hold)
	d := c.document(steer.Result{Old: now.Before, New: c.value.Procs, Auto: new(false), Stopped: now.Took})
	d.By, d.HeldSeconds = "lease", nil
	o.lent(std, d)
	for left := o.hold; left > 0 && err == nil && ctx.Err() == nil; left = time.Until(end) {
		select {
		case <-ctx.Done():
		case <-time.After(min(left, meter.LongestLease/3)):
			if left = time.Until(end); left > 0 {
				_, err = m.Lease(ctx, c.value.Procs, max(left, shortest))
			}
		}
	}
	procs, back := m.Release(context.WithoutCancel(ctx))
	if r, ok := errors.AsType[*meter.Refusal](back); ok && r.Why == meter.Silent {
		back = fmt.Errorf("%w; its own value comes back when the lease ends, within %s", back, number.Chosen(meter.LongestLease))
	}
	if back == nil && ctx.Err() == nil {
		back = err
	}
	if back != nil { // also where that was interrupted
		return o.unrestored(std, d, back)
	}
	d.Restored = &restored{Procs: known(procs)}
	return errors.Join(o.restored(std, d, released(now.Before, procs)), ctx.Err())
}

func (c valueChange) words() string {
	from, to := "GOMAXPROCS", fmt.Sprint(c.value.Procs)
	if c.before.Procs > 0 {
		from = fmt.Sprintf("GOMAXPROCS=%d", c.before.Procs)
	}
	if c.value.Auto {
		to = "what its runtime chooses"
	}
	return from + " becomes " + to
}

func (o *setOptions) change(ctx context.Context, std stdio, c valueChange) error {
	request := steer.Request{Program: c.program, Value: c.value, Idle: c.idle(o.out.std(std), steer.Waits)}
	if o.hold == 0 {
		result, err := steer.Set(ctx, request)
		if err != nil {
			return c.refused(err)
		}
		d := c.document(result)
		d.Undo = c.undo(result)
		return o.print(std, d)
	}
	guard, result, err := steer.Lend(ctx, steer.Loan{Request: request, Before: c.before, For: o.hold})
	if err != nil {
		return c.refused(err)
	}
	c.before = guard.Before()
	d := c.document(result)
	o.lent(std, d)
	return o.giveBack(ctx, std, c, d, guard)
}

// idle prints what wakes a program in which a call waits.
func (c valueChange) idle(std stdio, waits time.Duration) func() {
	return func() {
		std.notef("process %d runs no Go code now, which a call needs; procfit waits up to %s for some: send it a request%s", c.subject.PID, number.Chosen(waits), c.example())
	}
}

// refused adds what wakes an idle program, and has the exit code of an interrupt.
func (c valueChange) refused(err error) error {
	switch steer.Because(err) {
	case steer.NoPlace:
		return fmt.Errorf("%w%s", err, c.example())
	case steer.Unwanted:
		return &exitError{exitInterrupted, err}
	}
	return err
}

// example is a request to where the program listens; empty: that is not known. procfit sends
// none itself, since it does not know what a request does.
func (c valueChange) example() string {
	if at := sockets.AddressOf(c.subject.PID); at.IsValid() {
		return fmt.Sprintf(", for example: curl http://%s/", at)
	}
	return ""
}

func (o *setOptions) lent(std stdio, d setDocument) {
	if !o.out.json() {
		if err := o.print(std, d); err != nil {
			std.notef("%v", err) // the value is given back all the same
		}
	}
	o.out.std(std).notef("the old value comes back in %s; Ctrl-C gives it back now", number.Chosen(o.hold))
}

func (o *setOptions) giveBack(ctx context.Context, std stdio, c valueChange, d setDocument, guard *steer.Guard) error {
	result, trying, err := guard.Wait(ctx)
	if trying {
		err = fmt.Errorf("%w; process %d tries for an hour to give GOMAXPROCS=%d back", err, guard.PID(), c.before.Procs)
	}
	if err != nil {
		return o.unrestored(std, d, err)
	}
	d.Restored = &restored{Procs: known(result.New), FollowsLimit: result.Auto}
	how := "nothing was called, since it was back already"
	if result.Held > 0 {
		d.Restored.HeldSeconds, d.Restored.StoppedSeconds = new(result.Held.Seconds()), new(result.Stopped.Seconds())
		how = "one goroutine was held for " + number.Duration(result.Held)
	}
	return errors.Join(o.restored(std, d, released(c.before.Procs, result.New)+"; "+how), ctx.Err())
}

// unrestored prints what was changed, which as text is printed before, and is not back.
func (o *setOptions) unrestored(std stdio, d setDocument, why error) error {
	if o.out.json() {
		return errors.Join(printJSON(std, d), why)
	}
	return why
}

func (o *setOptions) restored(std stdio, d setDocument, text string) error {
	if o.out.json() {
		return printJSON(std, d)
	}
	_, err := fmt.Fprintln(std.out, text)
	return err
}

type setDocument struct {
	Schema    string `json:"schema"`
	PID       int    `json:"pid"`
	Name      string `json:"name"`
	GoVersion string `json:"go_version"`
	Changed   bool   `json:"changed"`
	Old       *int   `json:"old"`          // null: not known
	New       *int   `json:"new"`          // null: not read
	By        string `json:"by,omitempty"` // call, or lease where the program set the value itself
	// FollowsLimit is whether the runtime follows the CPU limit now; null: it cannot, as
	// before Go 1.25, or it is not known.
	FollowsLimit   *bool     `json:"follows_limit"`
	HeldSeconds    *float64  `json:"held_seconds"`    // of the one goroutine that made the call; null: nothing was called
	StoppedSeconds *float64  `json:"stopped_seconds"` // from the call to its return: the world was stopped for no longer
	Threads        int       `json:"threads,omitempty"`
	SizedAtStart   []string  `json:"sized_at_start,omitempty"` // modules that keep the size of the start
	Note           string    `json:"note,omitempty"`
	AfterRestart   string    `json:"after_restart,omitempty"` // whether the value lasts, and how it is made to
	Recommended    *int      `json:"recommended,omitempty"`   // of a value above it
	Undo           string    `json:"undo,omitempty"`          // the command that gives the old value back; absent: procfit does
	Restored       *restored `json:"restored,omitempty"`      // absent: without --for, or the old value is not back
}

type restored struct {
	Procs          *int     `json:"procs"` // null: not read
	FollowsLimit   *bool    `json:"follows_limit"`
	HeldSeconds    *float64 `json:"held_seconds"`    // null: nothing was called
	StoppedSeconds *float64 `json:"stopped_seconds"` // null: not known
}

// known is a value that was read; nil: it was not.
func known(procs int) *int {
	if procs == 0 {
		return nil
	}
	return &procs
}

// blank is the document of a process to which nothing was done.
func (c valueChange) blank() setDocument {
	d := setDocument{
		Schema: "procfit.set/v1", PID: c.subject.PID, Name: phrase.Clean(c.subject.Name), GoVersion: c.subject.Facts.GoVersion,
		Old: known(c.before.Procs), New: known(c.before.Procs), SizedAtStart: phrase.CleanAll(c.sized),
	}
	if c.follows {
		d.FollowsLimit = &c.before.Auto
	}
	return d
}

func (c valueChange) document(r steer.Result) setDocument {
	d := c.blank()
	held, stopped := r.Held.Seconds(), r.Stopped.Seconds()
	d.By = "call"
	d.Changed, d.Old, d.New, d.FollowsLimit, d.HeldSeconds, d.StoppedSeconds, d.Threads = true, &r.Old, known(r.New), nil, &held, &stopped, r.Threads
	if c.follows {
		d.FollowsLimit = r.Auto
	}
	d.AfterRestart = c.subject.AfterRestart(c.value.Procs, c.value.Auto)
	e := explain.New(c.subject, "", "")
	if n, err := e.Value(); err == nil && n < c.value.Procs && len(e.Unknown()) == 0 {
		d.Recommended = &n
	}
	return d
}

func (c valueChange) undo(r steer.Result) string {
	if c.before.Auto && c.follows {
		return fmt.Sprintf("procfit set %d auto", c.subject.PID)
	}
	return fmt.Sprintf("procfit set %d %d", c.subject.PID, r.Old)
}

func (o *setOptions) print(std stdio, d setDocument) error {
	if o.out.json() {
		return printJSON(std, d)
	}
	out := terminal.Writer{Width: columns(std.out)}
	for line := range strings.Lines(d.text()) {
		out.Folded(strings.TrimSuffix(line, "\n"), "    ")
	}
	return std.write(out.Bytes(), nil)
}

func (d setDocument) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "process %d (%s): ", d.PID, d.Name)
	if !d.Changed {
		fmt.Fprintf(&b, "%s\n", d.Note)
		return b.String()
	}
	now := "set; the new value cannot be read"
	if d.New != nil {
		now = fmt.Sprint(*d.New)
	}
	fmt.Fprintf(&b, "GOMAXPROCS %d → %s\n", *d.Old, now)
	if d.By == "lease" {
		fmt.Fprintf(&b, "  the program set it itself, by a lease; all goroutines were held for at most %s\n", number.Seconds(*d.StoppedSeconds))
	} else {
		fmt.Fprintf(&b, "  procfit had it call runtime.GOMAXPROCS; one goroutine was held for %s, all of them for at most %s\n", number.Seconds(*d.HeldSeconds), number.Seconds(*d.StoppedSeconds))
	}
	switch {
	case d.FollowsLimit != nil && *d.FollowsLimit:
		b.WriteString("  its runtime follows its CPUs and its limit again\n")
	case d.FollowsLimit != nil && d.Undo == "":
		b.WriteString("  its runtime does not follow its limit while it has this value\n")
	case d.FollowsLimit != nil:
		fmt.Fprintf(&b, "  its runtime does not follow its limit now; to have it follow: procfit set %d auto\n", d.PID)
	}
	b.WriteString("  what the program sized by GOMAXPROCS at its start keeps its size")
	if len(d.SizedAtStart) > 0 {
		b.WriteString(": " + strings.Join(d.SizedAtStart, ", "))
	}
	fmt.Fprintf(&b, "\n  %s\n", d.AfterRestart)
	if d.Recommended != nil && d.Undo != "" {
		fmt.Fprintf(&b, "  recommended is %d: procfit set %d recommended\n", *d.Recommended, d.PID)
	}
	if d.Undo != "" {
		fmt.Fprintf(&b, "  to undo: %s\n", d.Undo)
	}
	return b.String()
}

// released is what GOMAXPROCS is after the experiment. The program keeps what something else
// has set, and a default of the Go runtime may have changed with the CPU limit.
func released(start, now int) string {
	switch now {
	case 0:
		return "GOMAXPROCS was given back; its value cannot be read"
	case start:
		return fmt.Sprintf("GOMAXPROCS is %d again", now)
	}
	return fmt.Sprintf("GOMAXPROCS is %d now, and was %d at start: something else has set it, or the Go runtime follows another CPU limit", now, start)
}
