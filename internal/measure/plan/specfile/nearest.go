package specfile

import (
	"math"
	"strings"
)

// distance is the number of letters to change in a to have b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal, row[j+1] = row[j+1], min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// nearest is the word that got may be a slip of.
func nearest(got string, known []string) (best string) {
	least := math.MaxInt
	for _, k := range known {
		if d := distance(strings.ToLower(got), strings.ToLower(k)); d < least && d <= (len(k)+1)/3 {
			best, least = k, d
		}
	}
	return best
}
