package cli

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/explain"
	"github.com/procfit/procfit/internal/observe"
	"github.com/procfit/procfit/internal/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// explainOptions are the flags of procfit explain.
type explainOptions struct {
	pids   []int
	root   string
	policy string
	json   bool
	memory bool
	whatIf whatIfFlags
}

// whatIfFlags are as they were written; hasX tells whether the flag is there,
// since 0 and "" are values.
type whatIfFlags struct {
	cpus                      int
	limit, env, release, lang string

	hasCPUs, hasLimit, hasEnv bool
}

func newExplain(std stdio) *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain [flags] [PFnnn]",
		Short: "Which GOMAXPROCS a program runs with, which one fits, and every reason",
		Long: `Say which GOMAXPROCS a Go program runs with, what its own runtime chooses, what
would fit, and why: every limit from its cgroup to the root, with the file and what
it holds. What is wrong comes as findings, each with the one thing to do.

It looks at a Go program that is started here, at running processes (--pid), at a
recorded or mounted tree of /proc and /sys (--root), or at a what-if: each of --cpus,
--limit, --env, --go and --lang takes the place of what was read. With --cpus, and
neither --pid nor --root, nothing is read at all. --memory adds the memory limits, and
the GOMEMLIMIT that fits them.

With the ID of a finding it prints the page of that rule. docs/EXPLAIN.md has more.`,
		Example: `  procfit explain
  procfit explain --pid 1
  procfit explain --limit 0.5 --policy go
  procfit explain --cpus 64 --limit 2.5 --go 1.24
  procfit explain --cpus 64 --limit 20,1.5 --json
  procfit explain PF003`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.whatIf.hasCPUs = cmd.Flags().Changed("cpus")
			o.whatIf.hasLimit = cmd.Flags().Changed("limit")
			o.whatIf.hasEnv = cmd.Flags().Changed("env")
			if len(args) > 0 {
				if cmd.Flags().NFlag() > 0 {
					return usageError("explain %s prints a rule's page and takes no flags", args[0])
				}
				return explainRule(std, args)
			}
			return o.run(std)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.IntSliceVar(&o.pids, "pid", nil, "running `processes`, or processes of --root; may be repeated: 17,42")
	f.StringVar(&o.root, "root", "", "`directory` that holds another system's proc and sys")
	f.StringVar(&o.policy, "policy", "", "print only what one `policy` decides: go, fit, automaxprocs or jvm")
	f.IntVar(&o.whatIf.cpus, "cpus", 0, "what if it might run on this `number` of CPUs")
	f.StringVar(&o.whatIf.limit, "limit", "", "what if these were the CPU `limits`, its own group's first, then its parent's: 20,1.5; or none")
	f.StringVar(&o.whatIf.env, "env", "", "what if GOMAXPROCS had this `value` in the environment; unset for none")
	f.StringVar(&o.whatIf.release, "go", "", "what if it were built with this Go `version`, and go.mod named it too")
	f.StringVar(&o.whatIf.lang, "lang", "", "what if this `version` were the go line of its go.mod")
	f.BoolVar(&o.memory, "memory", false, "explain GOMEMLIMIT too: the memory limits of all groups, and the value that fits")
	f.BoolVar(&o.json, "json", false, "print procfit.decision/v1, one object a line for each process")
	return cmd
}

func (o *explainOptions) run(std stdio) error {
	if err := o.check(); err != nil {
		return err
	}
	whatIf, err := o.whatIf.parse()
	if err != nil {
		return err
	}
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
		e := explain.New(whatIf.Apply(s), o.who(s)+whatIf.String(), o.policy)
		if o.memory {
			m, err := from.memory(pid)
			if err != nil {
				failed = append(failed, err)
				continue
			}
			e = e.WithMemory(m)
		}
		if printed++; printed > 1 && !o.json && o.policy == "" {
			fmt.Fprintln(std.out)
		}
		if err := o.print(std, e); err != nil {
			return err
		}
	}
	for i, err := range failed {
		if i == len(failed)-1 {
			return err
		}
		std.notef("%v", err)
	}
	return nil
}

func (o *explainOptions) check() error {
	if o.policy != "" && !slices.Contains(explain.Policies(), o.policy) {
		return usageError("--policy %q: known are %s", o.policy, strings.Join(explain.Policies(), ", "))
	}
	switch {
	case o.memory && o.policy != "":
		return usageError("--memory and --policy: one policy decides GOMAXPROCS alone; leave one of both away")
	case o.memory && o.whatIf.hasCPUs && len(o.pids) == 0 && o.root == "":
		return usageError("--memory with --cpus: nothing is read then, so no memory limit either; add --pid or --root")
	}
	for _, pid := range o.pids {
		if pid <= 0 {
			return usageError("--pid %d: want a process ID above zero", pid)
		}
	}
	return nil
}

// source is where a program is looked at by its PID; 0 is the one that no PID names.
type source struct {
	subject func(pid int) (rule.Subject, error)
	memory  func(pid int) (facts.Memory, error)
	close   func() error
}

func (o *explainOptions) source() (source, error) {
	from := source{
		memory: func(int) (facts.Memory, error) { return facts.ReadMemory(), nil },
		close:  func() error { return nil },
	}
	switch {
	case o.root != "":
		// Links that lead out of the tree would lead into the live system.
		root, err := os.OpenRoot(o.root)
		if err != nil {
			return source{}, usageError("--root: %w; name a directory that holds proc and sys", err)
		}
		from.subject = func(pid int) (rule.Subject, error) { return recorded(root.FS(), o.root, pid) }
		from.memory = func(pid int) (facts.Memory, error) { return facts.ReadMemoryFS(root.FS(), pid) }
		from.close = root.Close
	case len(o.pids) > 0:
		from.subject, from.memory = new(observe.Reader).Subject, new(facts.Reader).ReadMemory
	case o.whatIf.hasCPUs:
		from.subject = func(int) (rule.Subject, error) { return explain.Nowhere(), nil }
	default:
		from.subject = func(int) (rule.Subject, error) { return observe.Self(), nil }
	}
	return from, nil
}

// recorded reads a process of a tree. Its program and its memory are not there.
func recorded(tree fs.FS, dir string, pid int) (rule.Subject, error) {
	f, err := facts.ReadFS(tree, pid)
	if err != nil {
		return rule.Subject{}, fmt.Errorf("--root %s: %w", dir, err)
	}
	return rule.NewSubject(rule.Observed{Place: rule.Place{PID: pid}, Facts: f}), nil
}

// who names the program at the head of the text.
func (o *explainOptions) who(s rule.Subject) string {
	name := "a Go program started here"
	switch {
	case len(o.pids) > 0:
		name = explain.Process(s)
	case o.root != "":
		name = "the process"
	case o.whatIf.hasCPUs:
		name = "a Go program"
	}
	if o.root != "" {
		name += " of " + o.root
	}
	return name
}

func (o *explainOptions) print(std stdio, e explain.Explanation) error {
	if o.json {
		return e.WriteJSON(std.out)
	}
	return e.WriteText(std.out, std.color(), width(std))
}

func (w whatIfFlags) parse() (explain.WhatIf, error) {
	out := explain.WhatIf{LimitText: w.limit, GoVersion: w.release, Language: w.lang}
	if w.hasCPUs && (w.cpus < 1 || w.cpus > math.MaxInt32) {
		return out, usageError("--cpus %d: want a positive number of CPUs", w.cpus)
	}
	if err := (facts.Go{Version: w.release}).Check(); err != nil {
		return out, usageError("--go: %w", err)
	}
	if err := (facts.Go{Language: w.lang}).Check(); err != nil {
		return out, usageError("--lang: %w", err)
	}
	if w.hasLimit {
		var err error
		if out.Limits, err = explain.ParseLimits(w.limit); err != nil {
			return out, usageError("--limit %w", err)
		}
	}
	if w.hasCPUs {
		out.CPUs = &w.cpus
	}
	if w.hasEnv {
		out.Env = &w.env
	}
	return out, nil
}

// explainRule prints a rule's page.
func explainRule(std stdio, args []string) error {
	if len(args) > 1 {
		return usageError("explain takes the ID of one rule, got %d arguments; see procfit explain --help", len(args))
	}
	if _, err := strconv.Atoi(args[0]); err == nil {
		return usageError("%q is no rule; for a process write procfit explain --pid %s", args[0], args[0])
	}
	r, ok := rule.Find(strings.ToUpper(args[0]))
	if !ok {
		var known []string
		for _, r := range rule.All() {
			known = append(known, r.ID)
		}
		return usageError("no rule %q; there are %s", args[0], strings.Join(known, ", "))
	}
	return explain.WriteRule(std.out, r)
}
