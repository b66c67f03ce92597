package rule

import "fmt"

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
