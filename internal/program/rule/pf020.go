package rule

import "fmt"

func checkFixedInImage(s Subject) []Finding {
	n, counts := s.EnvProcs()
	if s.Written == nil || !s.Written.Image || !counts {
		return nil
	}
	return []Finding{{
		Message: fmt.Sprintf("the image fixes GOMAXPROCS=%d for whatever limit it runs under", n),
		Fix:     "remove it here, and set it beside the limit where it is needed",
	}}
}
