package rule

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
