package cgroup

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

// TestConversions holds the formulas against what the runtimes are known to have
// written: runc 1.3.1 gives 77 for 2000 shares, runc 1.4 gives 170
// (opencontainers/runc#4896), and one CPU is 1024 shares, 39 or 100.
func TestConversions(t *testing.T) {
	for _, tc := range []struct {
		milli                     int64
		shares, linear, quadratic int64
	}{
		{-1, 2, 1, 1}, {0, 2, 1, 1}, {1, 2, 1, 1}, {1000, 1024, 39, 100}, {1954, 2000, 77, 170},
		{MostMilli, 262144, 10000, 10000}, {1 << 50, 262144, 10000, 10000},
	} {
		for c, want := range map[Conversion]int64{Shares: tc.shares, Linear: tc.linear, Quadratic: tc.quadratic} {
			if got := c.Weight(tc.milli); got != want {
				t.Errorf("%s of %d thousandths: %d, want %d", c, tc.milli, got, want)
			}
		}
	}
}

// TestRequests: the way back ends where the way there began.
func TestRequests(t *testing.T) {
	for _, c := range []Conversion{Shares, Linear, Quadratic} {
		for milli := int64(0); milli <= MostMilli; milli += 1 + milli/7 {
			w := c.Weight(milli)
			low, high, ok := c.Requests(w)
			if !ok || low > milli || high < milli || c.Weight(low) != w || c.Weight(high) != w ||
				low > 0 && c.Weight(low-1) == w || high < MostMilli && c.Weight(high+1) == w {
				t.Fatalf("%s: %d thousandths have weight %d, which stands for %d to %d, %t", c, milli, w, low, high, ok)
			}
		}
	}
	for _, c := range []Conversion{Linear, Quadratic} {
		if low, high, ok := c.Requests(0); ok {
			t.Errorf("%s: an idle group's weight stands for %d to %d", c, low, high)
		}
	}
}

func TestReadWeight(t *testing.T) {
	tree := fstest.MapFS{
		"a/cpu.shares": {Data: []byte("256\n")}, "a/cpu.weight": {Data: []byte("100\n")},
		"b/cpu.shares": {Data: []byte("1024\n")}, "b/cpu.weight": {Data: []byte("10001\n")}, "c/cpu.weight/x": {},
	}
	for _, tc := range []struct {
		version int
		dir     string
		value   int64
		usual   bool
		fault   string
	}{
		{1, "/a", 256, false, ""}, {2, "/a", 100, true, ""}, {1, "/b", 1024, true, ""},
		{2, "/b", 0, false, `/b/cpu.weight: expected a number from 0 to 10000, got "10001\n"`}, {1, "/c", 0, false, ErrNoWeight.Error()}, {2, "/c", 0, false, "/c/cpu.weight: "},
	} {
		w, err := ReadWeight(tree, tc.version, tc.dir)
		if tc.fault != "" {
			if err == nil || !strings.Contains(err.Error(), tc.fault) {
				t.Errorf("v%d %s: %v, want %q", tc.version, tc.dir, err, tc.fault)
			}
			continue
		}
		if err != nil || w.Value != tc.value || w.Default() != tc.usual {
			t.Errorf("v%d %s: %+v, %v", tc.version, tc.dir, w, err)
		}
	}
	if _, err := ReadWeight(tree, 1, "/c"); !errors.Is(err, ErrNoWeight) {
		t.Errorf("%v", err)
	}
}

func FuzzParseWeight(f *testing.F) {
	for _, seed := range []string{"100\n", "1024", "0", "1", "262144\n", "-5", "max", "", " 7 ", "1e3", "99999999999999999999"} {
		f.Add(1, seed)
		f.Add(2, seed)
	}
	f.Fuzz(func(t *testing.T, version int, text string) {
		n, err := parseWeight(version, text)
		if err != nil {
			return
		}
		if n < 0 || version == 1 && n < minShares || n > maxShares {
			t.Fatalf("v%d %q: %d", version, text, n)
		}
		for _, c := range Conversions(version) {
			if low, high, ok := c.Requests(n); ok && (c.Weight(low) != n || c.Weight(high) != n) {
				t.Errorf("%s: %d stands for %d to %d", c, n, low, high)
			}
		}
	})
}
