package rule

func numCPUInCode() Rule {
	return Rule{
		ID:       "PF025",
		Title:    "GOMAXPROCS set to the machine's CPUs",
		Severity: Warning,
		Since:    "0.1",
		By:       "source",
		Why: `runtime.NumCPU is the CPUs that the process may be scheduled on, in every release; it
never is the limit of a container. Since Go 1.5 the call repeats the default, and only
takes from the environment what it says. From Go 1.25 on, with a go line that is as new,
the default is the limit where there is one: the call then puts as many Ps on it as the
machine has CPUs, and ends the updates that the runtime makes by itself. With an older
go line it is an info, since it costs something only on the day that line changes.`,
		Fix: `Remove the call: the runtime chooses by itself.`,
	}
}
