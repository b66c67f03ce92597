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
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}

// Sorted is a sorted copy of a list.
func Sorted[T any](list []T, compare func(a, b T) int) []T {
	list = slices.Clone(list)
	Stable(list, compare)
	return list
}
