package rule

func noLimitToRefer() Rule {
	return Rule{
		ID:       "PF017",
		Title:    "GOMAXPROCS from a limit that is not there",
		Severity: Warning,
		Since:    "0.1",
		Why: `A resourceFieldRef of limits.cpu in a container without a CPU limit is no error: it
gives the CPUs that the node has for pods. The manifest reads as if the value were
bounded, and the program runs with one P for every CPU of whatever node it comes to.`,
		Fix:   `Give the container a CPU limit, or write the number that suits it.`,
		Check: checkNoLimitToRefer,
	}
}

func checkNoLimitToRefer(s Subject) []Finding {
	if !s.Written.NodeCPUs() {
		return nil
	}
	return []Finding{{
		Message: "GOMAXPROCS is taken from limits.cpu, and there is no CPU limit: it gets the CPUs of the node",
		Fix:     "give the container a CPU limit, or write the number of CPUs that it is meant to use",
	}}
}
