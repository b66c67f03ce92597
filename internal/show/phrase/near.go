package phrase

import (
	"cmp"
	"slices"
	"strings"
)

// Near are the known words that a word may be a slip of, the nearest first. One slip in
// three letters, two in five, still looks like the word; so does a part of it.
func Near(word string, known []string) []string {
	word = strings.ToLower(word)
	slips := func(k string) int { return distance(word, strings.ToLower(k)) }
	near := slices.DeleteFunc(slices.Clone(known), func(k string) bool {
		return slips(k) > (len(k)+1)/3 && !(len(word) >= 3 && strings.Contains(strings.ToLower(k), word))
	})
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(slips(a), slips(b)) })
	return near
}

// DidYouMean is the end of an error about a word: a question for the nearest of the known
// ones; empty where none is near.
func DidYouMean(word string, known []string) string {
	near := Near(word, known)
	if len(near) == 0 {
		return ""
	}
	return ". Did you mean " + near[0] + "?"
}

// distance is the Levenshtein distance in bytes: insertions, deletions and
// substitutions that turn a into b.
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
			diagonal = row[j+1]
			row[j+1] = min(cost, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
