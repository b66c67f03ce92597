package ready

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The statuses of HTTP, and the first of those that say that the server failed.
const (
	leastStatus = 100
	mostStatus  = 599
	serverError = 500
)

// StatusRange is statuses from First to Last.
type StatusRange struct{ First, Last int }

// Statuses are those that count as ready; empty: any below 500.
type Statuses []StatusRange

// ParseStatuses reads 200-399 or 200,204,401.
func ParseStatuses(text string) (Statuses, error) {
	var all Statuses
	for item := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(item), "-")
		if !isRange {
			high = low
		}
		first, err := strconv.ParseUint(low, 10, 16)
		last, err2 := strconv.ParseUint(high, 10, 16)
		if err != nil || err2 != nil || first < leastStatus || last > mostStatus || first > last {
			return nil, fmt.Errorf("%q: want statuses from %d to %d, as in 200-399 or 200,401", text, leastStatus, mostStatus)
		}
		all = append(all, StatusRange{int(first), int(last)})
	}
	return all, nil
}

// Has tells whether a status counts as ready.
func (s Statuses) Has(status int) bool {
	if len(s) == 0 {
		return status < serverError
	}
	return slices.ContainsFunc(s, func(r StatusRange) bool { return r.First <= status && status <= r.Last })
}

// String is the statuses as they are parsed.
func (s Statuses) String() string {
	words := make([]string, len(s))
	for i, r := range s {
		words[i] = strconv.Itoa(r.First)
		if r.Last != r.First {
			words[i] += "-" + strconv.Itoa(r.Last)
		}
	}
	return strings.Join(words, ",")
}
