package rule

func checkNoLimitToRefer(s Subject) []Finding {
	if !s.Written.NodeCPUs() {
		return nil
	}
	return []Finding{{
		Message: "GOMAXPROCS is taken from limits.cpu, and there is no CPU limit: it gets the CPUs of the node",
		Fix:     "give the container a CPU limit, or write the number of CPUs that it is meant to use",
	}}
}
