package rule

func refused() Rule {
	return Rule{
		ID:       "PF016",
		Title:    "a GOMAXPROCS that Kubernetes refuses",
		Severity: Error,
		Since:    "0.1",
		Why: `The API server takes the value of a variable only as a string, so that value: 2 needs
quotes; a variable has a value or a valueFrom, not both; and the divisor of CPUs is
"1" or 1m and nothing else. What is refused is not deployed, and what runs is what
ran before. A container name that the pod does not have is worse: the API server
accepts it, and the container waits forever in CreateContainerConfigError.`,
		Fix:   `Write what the message says.`,
		Check: checkRefused,
	}
}

func checkRefused(s Subject) []Finding {
	if s.Written == nil || s.Written.Refused == "" {
		return nil
	}
	if s.Written.Kubelet {
		return []Finding{{
			Message: "the API server takes it, and the kubelet never starts the container: " + s.Written.Refused,
			Fix:     "name a container of the same pod, or leave the name out, which means this one",
		}}
	}
	return []Finding{{Message: "the API server refuses it: " + s.Written.Refused, Fix: "write it as the API server takes it: a value in quotes, or a resourceFieldRef with divisor \"1\""}}
}
