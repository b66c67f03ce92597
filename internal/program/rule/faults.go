package rule

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Faults is what page faults that read from a disk did to a program while it was watched.
type Faults struct {
	Held   float64  // Ps that they held, on average
	Queued *float64 // goroutines that could run and waited for a P, on average; nil: not known
}

// of is how many of n Ps they held, in a sentence.
func (f Faults) of(n int) string {
	return number.Short(number.Significant(min(f.Held, float64(n)), 2))
}

// someHeld is the share of its Ps from which on page faults are worth a finding. A program
// that loses less cannot become more than a ninth faster with more of them.
const someHeld = 0.1

func (s Subject) holds() bool {
	n, known := s.Procs()
	return known && s.Faults != nil && s.Faults.Held >= someHeld*float64(n)
}

// checkHeld finds a program whose free Ps are fewer than its CPUs, while goroutines wait
// for one.
func checkHeld(s Subject) []Finding {
	n, _ := s.Procs()
	if !s.holds() || !s.sized() || n >= standIn {
		return nil
	}
	free := float64(n) - s.Faults.Held
	if q := s.Faults.Queued; free >= s.usable() || len(phrase.Above(n)) == 0 || q != nil && *q < max(1, someHeld*float64(n)) {
		return nil
	}
	f := Finding{Message: fmt.Sprintf("%s, and page faults keep %s of these Ps waiting for the disk", s.Uses(n), s.Faults.of(n))}
	if q := s.Faults.Queued; q != nil {
		f.Message += fmt.Sprintf(", while %s wait for a P", number.AmountOf(*q, "goroutine"))
	}
	f.Fix = fmt.Sprintf("more Ps than CPUs are worth a measurement: %s; the best value cannot be predicted from the number of held Ps", s.measure(s.sweepFrom(n)))
	return []Finding{f}
}

// sweepFrom is the list of values for a sweep: the value of today, the recommended one,
// and those above both.
func (s Subject) sweepFrom(n int) string {
	least, most := min(n, s.Fit.Procs), max(n, s.Fit.Procs)
	values := []string{strconv.Itoa(least)}
	if least < most {
		values = append(values, strconv.Itoa(most))
	}
	return strings.Join(append(values, phrase.Above(most)...), ",")
}
