package cli

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/inspect/explain"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/maxprocs/facts"
)

// explainOptions are the flags of procfit explain.
type explainOptions struct {
	pids   []int
	root   string
	policy string
	json   bool
	memory bool
	value  bool
	whatIf whatIfFlags
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
neither --pid nor --root, nothing is read at all. --reserve leaves CPUs to a neighbour
in the same limit, --request tells what a CPU request means beside it, --memory adds the
memory limits, and the GOMEMLIMIT that fits them. --value prints one number, for scripts.

With the ID of a finding it prints the page of that rule. docs/EXPLAIN.md has more.`,
		Example: `  procfit explain
  procfit explain --pid 1
  procfit explain --limit 0.5 --policy go
  procfit explain --value
  procfit explain --cpus 64 --limit 2.5 --go 1.24
  procfit explain --cpus 64 --limit 20,1.5 --json
  procfit explain PF003`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.whatIf.given(cmd.Flags())
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
	o.whatIf.flags(f)
	f.BoolVar(&o.memory, "memory", false, "explain GOMEMLIMIT too: the memory limits of all groups, and the value that fits")
	f.BoolVar(&o.value, "value", false, "print nothing but the number that fits, or the --policy's: GOMAXPROCS=$(procfit explain --value) ./server")
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
		e := explain.New(whatIf.Apply(s), o.who(s)+whatIf.String(), o.policy).WithRequest(o.request(from, s.Facts))
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
	if o.policy != "" {
		if err := checkPolicy(o.policy); err != nil {
			return err
		}
	}
	if err := checkReserve(o.whatIf.reserve, o.policy); err != nil {
		return err
	}
	switch {
	case o.value && (o.json || o.memory || o.whatIf.hasRequest):
		return usageError("--value prints one number, without --json, --memory and --request")
	case o.whatIf.hasRequest && o.policy != "":
		return usageError("--request and --policy: no policy goes by a request; leave one of both away")
	case o.value && len(o.pids) > 1:
		return usageError("--value prints one number: name one process, not %d", len(o.pids))
	case o.memory && o.policy != "":
		return usageError("--memory and --policy: one policy decides GOMAXPROCS alone; leave one of them out")
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
	tree    fs.FS // where files of the system are looked up; nil: nowhere
	close   func() error
}

func (o *explainOptions) source() (source, error) {
	from := source{
		memory: func(int) (facts.Memory, error) { return facts.ReadMemory(), nil },
		tree:   os.DirFS("/"),
		close:  func() error { return nil },
	}
	switch {
	case o.root != "":
		// Links that lead out of the tree would lead into the live system.
		root, err := folder.OpenRoot(o.root)
		if err != nil {
			return source{}, usageError("--root: %w; name a directory that holds proc and sys", err)
		}
		from.subject = func(pid int) (rule.Subject, error) { return recorded(root.FS(), o.root, pid) }
		from.memory = func(pid int) (facts.Memory, error) { return facts.ReadMemoryFS(root.FS(), pid) }
		from.tree, from.close = root.FS(), root.Close
	case len(o.pids) > 0:
		from.subject, from.memory = new(observe.Reader).Subject, new(facts.Reader).ReadMemory
	case o.whatIf.hasCPUs:
		from.subject = func(int) (rule.Subject, error) { return explain.Nowhere(), nil }
		from.tree = nil
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
	if o.value {
		return printValue(std, e)
	}
	if o.json {
		return e.WriteJSON(std.out)
	}
	return e.WriteText(std.out, std.color(), width(std))
}

// explainRule prints a rule's page.
func explainRule(std stdio, args []string) error {
	if len(args) > 1 {
		return usageError("explain takes the ID of one rule, got %d arguments; see procfit explain --help", len(args))
	}
	if _, err := strconv.Atoi(args[0]); err == nil {
		return usageError("%q is not a rule; for a process write procfit explain --pid %s", args[0], args[0])
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
