package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	goversion "go/version"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/cli/entry"
	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/inspect/explain"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

func newExplain(std stdio) *cobra.Command {
	o := explainOptions{out: printed("text", "json")}
	return o.bind(std, &cobra.Command{
		Use:   "explain [flags] [PID|NAME|:PORT… | PFnnn]",
		Short: "Explain the GOMAXPROCS of a program: every limit, every reason",
		Long: `Print which GOMAXPROCS a Go program uses, what its runtime chooses, what it should use,
and why: every CPU limit from its cgroup up to the root, with its file. Each finding has
one fix. A process that is throttled, or waits for the disk in page faults, is watched
for a second.

Without a process it explains a Go program that is started here. --root reads a copy of
another system's /proc and /sys. --cpus, --limit, --gomaxprocs, --go and --lang ask
"what if": each replaces a fact that was read. With --cpus, and neither a PID nor
--root, nothing is read at all.

procfit explain PF003 prints the page of a rule.`,
		Example: `  procfit explain
  procfit explain 1
  procfit explain api
  procfit explain :8080
  procfit explain --limit 0.5 --policy go
  procfit explain --value
  procfit explain --cpus 64 --limit 2.5 --go 1.24
  procfit explain --cpus 64 --limit 20,1.5 --json
  procfit explain --reserve auto 1
  procfit explain --cpus 8 --limit 2 --request 0.25
  procfit explain PF003`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.ContainsFunc(args, meansRule().MatchString) {
				if cmd.Flags().NFlag() > 0 {
					return usageError("explain %s prints a rule's page and takes no flags", args[0])
				}
				return explainRule(std, args)
			}
			if err := o.readProcesses(cmd.Context(), args); err != nil {
				return err
			}
			return o.run(cmd.Context(), std)
		},
	}, o.fields())
}

func (o *explainOptions) fields() []field.Field {
	where := []field.Field{
		{Name: "root", Holds: "DIR", Help: "directory that holds another system's proc and sys", Value: field.Text(&o.root)},
		entry.Policy(&o.policy, "print only what one policy decides"),
	}
	result := field.In(field.Output, []field.Field{
		{Name: "memory", Help: "explain GOMEMLIMIT too: every memory limit, and the recommended value", Value: field.Switch(&o.memory), Not: "policy"},
		{Name: "value", Help: "print only the number, for a shell's $(procfit explain --value)", Value: field.Switch(&o.value), Not: "memory"},
	}...)
	return slices.Concat(where, o.whatIfFields(), result, o.out.fields("print procfit.decision/v1, one line per process"))
}

// readProcesses finds the processes that the arguments name: each of those that have a name.
func (o *explainOptions) readProcesses(ctx context.Context, args []string) error {
	for _, word := range args {
		if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
			o.pids = append(o.pids, pid)
			continue
		}
		info, err := os.Stat(word)
		switch file := err == nil; {
		case strings.Trim(word, "-0123456789") == "":
			return usageError("explain takes a process ID above zero, not %q", word)
		case strings.ContainsAny(word, "/\\") && !strings.Contains(word, "://"):
			return notAFile(word)
		case o.root != "":
			return usageError("with --root a process is named by its ID, not %q", word)
		default:
			found, err := processes(ctx, "procfit explain PID", word)
			switch {
			case err == nil:
			case file:
				return notAFile(word)
			case looksLikeRule().MatchString(word):
				return noRule(word)
			default:
				return err
			}
			if found, err = nearestNames(found, word, file && info.Mode().IsRegular()); err != nil {
				return err
			}
			for _, p := range found {
				o.pids = append(o.pids, p.pid)
			}
		}
	}
	return nil
}

// nearestNames are the processes that have a word as their whole name; else, unless it is the name of a file
// in this folder too, all that it matches.
func nearestNames(found []named, word string, file bool) ([]named, error) {
	whole := slices.DeleteFunc(slices.Clone(found), func(p named) bool { return p.name != word })
	switch {
	case len(whole) > 0:
		return whole, nil
	case file && found[0].name != "":
		return nil, usageError("%q is a file in this folder and matches %s; for the file: procfit check ./%s; for the process: procfit explain %d",
			word, phrase.And(listed(found)), phrase.ShellWord(word), found[0].pid)
	}
	return found, nil
}

func notAFile(path string) error {
	return usageError("explain takes a process or a rule such as PF003, not a file (%q); for a file: procfit check %s; for its process: procfit explain PID", path, phrase.ShellWord(path))
}

func (o *explainOptions) run(ctx context.Context, std stdio) error {
	if err := o.check(); err != nil {
		return err
	}
	std, errs := o.out.std(std), std
	assumes(std, o.whatIf.GoVersion)
	from, err := o.source()
	if err != nil {
		return err
	}
	defer from.close()
	pids := o.pids
	if len(pids) == 0 {
		pids = []int{0}
	}
	var failed []error
	printed := 0
	for _, pid := range pids {
		s, err := from.subject(pid)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if from.live != nil && !o.value && o.policy == "" {
			s = observe.Watched(ctx, s)
		}
		neighbours, err := o.neighbours(ctx, std, s)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, err)
			continue
		}
		e := explain.New(o.whatIf.Apply(s), o.who(s)+o.whatIf.String(), o.policy)
		e.Request, e.Neighbours = o.asked(from, s.Facts), neighbours
		if o.memory {
			m, err := from.memory(pid)
			if err != nil {
				failed = append(failed, err)
				continue
			}
			e = e.WithMemory(m, from.memoryLimit(pid))
		}
		if printed++; printed > 1 && !o.out.json() && o.policy == "" {
			fmt.Fprintln(std.out)
		}
		if err := o.print(std, e); err != nil {
			return err
		}
	}
	return reportedButLast(errs, failed)
}

func (o *explainOptions) check() error {
	if err := cmp.Or(o.fieldFlags.check(), o.checkReserve()); err != nil {
		return err
	}
	switch {
	case o.value && o.out.json():
		return usageError("--value prints one number, --json an object: use only one of them")
	case o.value && len(o.pids) > 1:
		return usageError("--value prints one number: name one process, not %d", len(o.pids))
	case o.memory && o.whatIf.CPUs != nil && len(o.pids) == 0 && o.root == "":
		return usageError("--memory with --cpus: nothing is read then, so no memory limit either; add a PID or --root")
	}
	return nil
}

func (o *explainOptions) source() (factSource, error) {
	from := factSource{
		memory: func(int) (facts.Memory, error) { return facts.ReadMemory(), nil },
		tree:   os.DirFS("/"),
		close:  func() error { return nil },
	}
	switch {
	case o.root != "":
		// Links that lead out of the tree would lead into the live system.
		root, err := folder.OpenRoot(o.root)
		if err != nil {
			return factSource{}, usageError("--root: %w; name a directory that holds proc and sys", err)
		}
		from.subject = func(pid int) (rule.Subject, error) { // without its program and its memory, which are not there
			f, err := facts.ReadFS(root.FS(), pid)
			if err != nil {
				return rule.Subject{}, fmt.Errorf("--root %s: %w", o.root, err)
			}
			return rule.NewSubject(rule.Observed{Place: rule.Place{PID: pid}, Facts: f, Recorded: true}), nil
		}
		from.memory = func(pid int) (facts.Memory, error) { return facts.ReadMemoryFS(root.FS(), pid) }
		from.tree, from.close = root.FS(), root.Close
	case len(o.pids) > 0:
		if err := noThreads("procfit explain PID", o.pids); err != nil {
			return factSource{}, err
		}
		from.live = new(observe.Reader)
		from.subject, from.memory = from.live.Subject, new(facts.Reader).ReadMemory
	case o.whatIf.CPUs != nil:
		from.subject = func(int) (rule.Subject, error) { return explain.Nowhere(), nil }
		from.tree = nil
	default:
		from.subject = func(int) (rule.Subject, error) { return observe.Self(), nil }
	}
	return from, nil
}

func (s factSource) memoryLimit(pid int) *int64 {
	if s.live == nil {
		return nil
	}
	n, err := s.live.MemoryLimit(pid)
	if err != nil {
		return nil
	}
	return &n
}

func (o *explainOptions) who(s rule.Subject) string {
	name := "a Go program started here"
	switch {
	case len(o.pids) > 0:
		name = explain.Process(s)
	case o.root != "":
		name = "the process"
	case o.whatIf.CPUs != nil:
		name = "a Go program"
	}
	if o.root != "" {
		name += " of " + o.root
	}
	return name
}

func (o *explainOptions) print(std stdio, e explain.Explanation) error {
	if o.value {
		return printValue(std, e)
	}
	if o.out.json() {
		return e.WriteJSON(std.out)
	}
	return e.WriteText(std.out, std.color(), columns(std.out))
}

// meansRule matches the ID of a rule and a slip in its number. looksLikeRule matches a slip in its
// letters, too, which may be the name of a program.
var (
	meansRule     = pattern.Of(`(?i)^pf-?[0-9]+$`)
	looksLikeRule = pattern.Of(`(?i)^p[a-z]{0,2}-?[0-9]+$`)
)

func explainRule(std stdio, args []string) error {
	if len(args) > 1 {
		return usageError("explain takes the ID of one rule, or processes, got %d arguments; see procfit explain --help", len(args))
	}
	word := args[0]
	if r, ok := rule.Find(strings.ToUpper(word)); ok {
		return explain.WriteRule(std.out, r, std.helpWidth())
	}
	return noRule(word)
}

// aRule matches the ID of a rule that is no slip.
var aRule = pattern.Of(`(?i)^PF[0-9]{3}$`)

func noRule(word string) error {
	known := ruleIDs()
	hint := phrase.DidYouMean(word, known)
	if hint == "" || aRule().MatchString(word) {
		hint = "; for the list: https://github.com/procfit/procfit/blob/main/docs/reference/rules.md"
	}
	return usageError("no rule %q: rules are %s to %s%s", word, known[0], known[len(known)-1], hint)
}

func ruleIDs() []string {
	return phrase.Each(rule.All(), func(r rule.Rule) string { return r.ID })
}

type explainOptions struct {
	fieldFlags
	out     printing
	pids    []int
	root    string
	policy  string
	memory  bool
	value   bool
	whatIf  explain.WhatIf
	request float64 // CPUs; 0: not asked
	measure bool    // the reserve
}

// factSource is where a program is looked at by its PID; 0 is the one that no PID names.
type factSource struct {
	subject func(pid int) (rule.Subject, error)
	memory  func(pid int) (facts.Memory, error)
	live    *observe.Reader // nil: no process runs there
	tree    fs.FS           // where files of the system are looked up; nil: nowhere
	close   func() error
}

func (o *explainOptions) whatIfFields() []field.Field {
	w := &o.whatIf
	return []field.Field{
		{Name: "cpus", Holds: "N", Help: "what if it might run on this number of CPUs", Value: field.Parsed(&w.CPUs, "", field.Maybe(field.Whole(1, math.MaxInt32)))},
		{Name: "limit", Holds: "LIMITS", Help: "what if these were the CPU limits, from its own cgroup up: 20,500m; or none", Value: field.Parsed(&w.Limits, "", func(text string) ([]facts.Limit, error) {
			w.LimitText = text
			return explain.ParseLimits(text)
		})},
		{Name: "gomaxprocs", Holds: "VALUE", Help: "what if GOMAXPROCS had this value in the environment; default for none", Value: field.Parsed(&w.Env, "", field.Maybe(func(text string) (string, error) { return text, nil }))},
		{Name: "go", Holds: "VERSION", Help: "what if it were built with this Go version, and go.mod named it too", Value: field.Parsed(&w.GoVersion, "", goRelease)},
		{Name: "lang", Holds: "VERSION", Help: "what if this version were the go line of its go.mod", Value: field.Parsed(&w.Language, "", goModLine)},
		o.reserveField(),
		{Name: "request", Holds: "CPUS", Help: "what a CPU request of this many CPUs means next to the limit", Value: field.Parsed(&o.request, "", number.ParseCPUs), Not: "policy value"},
	}
}

const measuredReserve = "auto"

func (o *explainOptions) reserveField() field.Field {
	f := entry.Reserve(&o.whatIf.Reserve)
	f.Help = "leave CPUs to others in the limit: 0.5, 500m, or auto: what they use now"
	f.Value = field.Parsed(&o.whatIf.Reserve, "", func(text string) (float64, error) {
		if o.measure = text == measuredReserve; o.measure {
			return 0, nil
		}
		cpus, err := number.ParseCPUs(text)
		if err != nil {
			err = fmt.Errorf("%w, or %s", err, measuredReserve)
		}
		return cpus, err
	})
	return f
}

// checkReserve refuses a reserve that no policy uses, or that cannot be measured.
func (o *explainOptions) checkReserve() error {
	cpus := o.whatIf.Reserve
	if o.measure {
		cpus = 1
	}
	if err := entry.CheckReserve(cpus, o.policy); err != nil {
		return asUsage(err)
	}
	if !o.measure {
		return nil
	}
	for _, name := range []string{"root", "cpus", "limit"} {
		if o.Has(name) {
			return usageError("--reserve %s and --%s: the others are measured in the limit of a process that runs; remove --%[2]s, or give --reserve a number", measuredReserve, name)
		}
	}
	if len(o.pids) == 0 {
		return usageError("--reserve %s measures what others use in the limit of a process: name it; try: procfit explain --reserve %[1]s PID", measuredReserve)
	}
	return nil
}

const reserveLook = 5 * time.Second

// neighbours measures the reserve; nil: it is not to be measured.
func (o *explainOptions) neighbours(ctx context.Context, std stdio, s rule.Subject) (*observe.Neighbours, error) {
	if !o.measure {
		return nil, nil
	}
	where := "in the limit"
	if _, limited := s.Limit(); !limited {
		where = "on the CPUs"
	}
	std.notef("measuring for %s what others use %s of process %d", number.Minutes(reserveLook), where, s.PID)
	n, err := observe.LookAtNeighbours(ctx, s, reserveLook)
	if err != nil {
		return nil, fmt.Errorf("--reserve %s: %w", measuredReserve, err)
	}
	if o.whatIf.Reserve = n.Reserve(); o.value {
		std.notef("they used %s", number.CPUs(n.Reserve()))
	}
	return &n, nil
}

func goRelease(text string) (string, error) {
	if (facts.Go{Version: text}).Check() != nil {
		return "", fmt.Errorf("%q: expected a Go version such as 1.26 or go1.26.8", text)
	}
	return text, nil
}

// newestGo is the newest release of Go whose choice is compared with procfit's, by test/goruntime.
const newestGo = "1.27"

// assumes notes that a release which a flag names is not known. Empty: none is named.
func assumes(std stdio, release string) {
	release = strings.TrimPrefix(release, "go")
	if release != "" && goversion.Compare(goversion.Lang("go"+release), "go"+newestGo) > 0 {
		std.notef("--go %s: procfit knows the releases of Go up to %s, and assumes that %[1]s chooses as %[2]s does", release, newestGo)
	}
}

func goModLine(text string) (string, error) {
	if (facts.Go{Language: text}).Check() != nil {
		return "", fmt.Errorf("%q: expected a Go version such as 1.24", text)
	}
	return text, nil
}

// asked is a CPU request, and the weight of its group where that was read: a --limit is another group's.
func (o *explainOptions) asked(from factSource, f facts.Facts) explain.Request {
	out := explain.Request{Asked: o.request}
	own, found := f.Own()
	if from.tree == nil || o.Has("limit") || !found {
		return out
	}
	w, err := cgroup.ReadWeight(from.tree, f.Cgroup.Version, own.Dir)
	switch {
	case err == nil:
		out.Weight = &w
	case !errors.Is(err, cgroup.ErrNoWeight):
		out.Unknown = err.Error()
	}
	return out
}

// printValue prints the number alone. What makes it uncertain goes to standard error.
func printValue(std stdio, e explain.Explanation) error {
	n, err := e.Value()
	if err != nil {
		return fmt.Errorf("%w; procfit explain has every step", err)
	}
	for _, u := range e.Unknown() {
		std.notef("%s, so %s", phrase.Clean(u), e.Uncertain(n))
	}
	_, err = fmt.Fprintln(std.out, n)
	return err
}
