package stealing

import (
	"math"
	"testing"
)

func TestJain(t *testing.T) {
	for _, c := range []struct {
		got  []int
		want float64
	}{{[]int{7, 7, 7, 7}, 1}, {[]int{9, 0, 0, 0}, 0.25}, {[]int{1, 1, 1, 0}, 0.75}, {[]int{3, 1}, 0.8}, {[]int{5}, 1}} {
		if x := jain(c.got); math.Abs(x-c.want) > 1e-12 {
			t.Errorf("%v: %g, want %g", c.got, x, c.want)
		}
	}
}
