package rule

func envAsNumber() Rule {
	return Rule{
		ID:       "PF028",
		Title:    "the variable asked where the runtime should be",
		Severity: Info,
		Since:    "0.1",
		By:       "source",
		Why: `GOMAXPROCS in the environment is one of several ways to the value: a limit, a call,
the machine's CPUs are others, and a value that the runtime does not understand is
none. Who sizes something by the variable has another number than the program runs
with, and none where it is not set.`,
		Fix: `Ask runtime.GOMAXPROCS(0), which is the value in force.`,
	}
}
