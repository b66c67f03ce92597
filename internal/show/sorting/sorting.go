// Package sorting sorts.
package sorting

import (
	"slices"
	"sort"
)

// Stable sorts a list, and keeps the order of equal elements. It is slices.SortStableFunc,
// which is compiled again for every type of elements, with 5 to 12 KB each; this is
// compiled once.
func Stable[T any](list []T, compare func(a, b T) int) {
	less := func(i, j int) bool { return compare(list[i], list[j]) < 0 }
	if !sort.SliceIsSorted(list, less) { // which many are, and sorting these again takes much longer
		sort.SliceStable(list, less)
	}
}

// Sorted is a sorted copy of a list.
func Sorted[T any](list []T, compare func(a, b T) int) []T {
	list = slices.Clone(list)
	Stable(list, compare)
	return list
}
