package sieve

import (
	"slices"
	"testing"
)

func TestPrimes(t *testing.T) {
	got := primes(1000)
	if first := []int{2, 3, 5, 7, 11, 13, 17, 19, 23, 29}; !slices.Equal(got[:10], first) || got[999] != 7919 || wrong(got) != 0 {
		t.Errorf("got %v and %d at last, wrong from %d", got[:10], got[999], wrong(got))
	}
	for _, tc := range []struct {
		found []int
		want  int
	}{{[]int{2, 3, 5, 9}, 9}, {[]int{2, 5}, 5}, {[]int{3}, 3}, {[]int{2, 2}, 2}, {[]int{2, 3, 5, 7, 13}, 13}, {[]int{2, 3}, 0}} {
		if got := wrong(tc.found); got != tc.want {
			t.Errorf("%v: wrong from %d, want %d", tc.found, got, tc.want)
		}
	}
}
