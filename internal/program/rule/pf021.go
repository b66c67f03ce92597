package rule

import "fmt"

func thousandths() Rule {
	return Rule{
		ID:       "PF021",
		Title:    "GOMAXPROCS in thousandths of a CPU",
		Severity: Error,
		Since:    "0.1",
		Why: `A resourceFieldRef divides the limit by its divisor and rounds up. With the divisor
1m a limit of 1500m becomes GOMAXPROCS=1500, which Kubernetes accepts and the
runtime takes.`,
		Fix:   `Write divisor: "1".`,
		Check: checkThousandths,
	}
}

func checkThousandths(s Subject) []Finding {
	if !s.Written.divided() {
		return nil
	}
	message := s.Written.reference() + " with divisor 1m counts thousandths of a CPU"
	if n, counts := s.EnvProcs(); counts {
		message += fmt.Sprintf(": GOMAXPROCS=%d", n)
	}
	fix := `write divisor: "1"`
	if s.sized() {
		fix += fmt.Sprintf(", which makes it %d", s.Fit.Procs)
	}
	return []Finding{{Message: message, Fix: fix}}
}
