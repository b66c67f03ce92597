package rule

func envSetAgain() Rule {
	return Rule{
		ID:       "PF027",
		Title:    "GOMAXPROCS read from the environment and set again",
		Severity: Info,
		Since:    "0.1",
		By:       "source",
		Why: `The runtime has read the variable before any code of the program runs, in every
release. To do it again costs a stop of the world, and takes values that the runtime
would refuse otherwise than it does.`,
		Fix: `Remove it: the runtime has done the same before.`,
	}
}
