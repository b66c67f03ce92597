package rule

func automaxprocsImported() Rule {
	return Rule{
		ID:       "PF031",
		Title:    "automaxprocs imported where the runtime does it itself",
		Severity: Warning,
		Since:    "0.1",
		By:       "source",
		Why: `With go 1.25 or newer in go.mod the runtime follows the CPU limit of its group, also
when it changes. go.uber.org/automaxprocs reads it once, and by its call of
runtime.GOMAXPROCS ends that for good. It differs in two more things: it rounds down,
2.5 CPUs to 2 where the runtime takes 3, and goes down to 1 where the runtime keeps 2.
Like the runtime it looks at no ancestor of the group.`,
		Fix: `Remove the import. Where 1 under a limit of one CPU or the limits of ancestors matter,
import github.com/procfit/procfit/maxprocs/auto in its place.`,
	}
}
