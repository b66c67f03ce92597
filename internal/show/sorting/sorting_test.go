package sorting

import (
	"cmp"
	"slices"
	"testing"
)

func TestStable(t *testing.T) {
	type pair struct{ key, place int }
	var list []pair
	for i := range 1000 {
		list = append(list, pair{i * 7919 % 13, i})
	}
	before := slices.Clone(list)
	Stable(list, func(a, b pair) int { return cmp.Compare(a.key, b.key) })
	if !slices.IsSortedFunc(list, func(a, b pair) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.place, b.place)) }) {
		t.Error("not sorted, or equal elements are not in their order")
	}
	Stable[pair](nil, nil)
	unsorted := slices.Clone(before)
	if got := Sorted(unsorted, func(a, b pair) int { return cmp.Compare(a.key, b.key) }); !slices.Equal(got, list) || !slices.Equal(unsorted, before) {
		t.Error("Sorted differs from Stable, or has changed its list")
	}
}
