package rule

import "fmt"

func fixedInImage() Rule {
	return Rule{
		ID:       "PF020",
		Title:    "GOMAXPROCS fixed in an image",
		Severity: Warning,
		Since:    "0.1",
		Why: `An image does not know the limit under which it will run. A GOMAXPROCS in it counts
on every machine and in every container, ends the runtime's own choice for good, and
nobody sees it in the manifest.`,
		Fix:   `Remove it from the image; where it is needed, set it beside the limit, in the manifest.`,
		Check: checkFixedInImage,
	}
}

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
