package phrase

import (
	"fmt"
	"strconv"
	"strings"
)

// Integer is what can be counted.
type Integer interface{ ~int | ~int32 | ~int64 }

// Count is a number with its noun: "1 trial", "6 trials".
func Count[N Integer](n N, noun string) string { return CountOf(n, noun, noun+"s") }

// CountOf is Count for a noun whose plural takes more than an s.
func CountOf[N Integer](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(int64(n), 10) + " " + many
}

// And joins items as a sentence lists them: "1, 2 and 4". More than six are
// counted: "1, 2, 3, 4, 5 and 7 more".
func And(items []string) string {
	const most = 6
	if len(items) > most {
		items = append(items[:most-1:most-1], fmt.Sprintf("%d more", len(items)-most+1))
	}
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " and " + items[last]
}

// Or joins items as alternatives: "1, 2 or 4".
func Or(items []string) string {
	last := len(items) - 1
	if last < 1 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:last], ", ") + " or " + items[last]
}

// Semicolons joins clauses; more than eight are counted.
func Semicolons(items []string) string {
	const most = 8
	if len(items) > most {
		items = append(items[:most-1:most-1], fmt.Sprintf("and %d more", len(items)-most+1))
	}
	return strings.Join(items, "; ")
}
