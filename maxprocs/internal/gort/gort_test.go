package gort

import (
	"math"
	"runtime"
	"strconv"
	"testing"
)

func TestValidEnv(t *testing.T) {
	for value, want := range map[string]bool{
		"1": true, "03": true, "999": true, strconv.Itoa(math.MaxInt32): true, "+3": plusCounts,
		"": false, "0": false, "-1": false, "abc": false, "2.5": false, "500m": false, " 3": false, "3 ": false, "+": false,
		"2147483648": false, "4294967299": false, "1_0": false, "0x3": false, "٣": false,
	} {
		if got := ValidEnv(value); got != want {
			t.Errorf("%q: %v, want %v (%s)", value, got, want, runtime.Version())
		}
	}
}
