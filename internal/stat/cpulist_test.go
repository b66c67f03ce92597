package stat

import "testing"

func TestCPUListLen(t *testing.T) {
	for _, c := range []struct {
		list string
		want int // -1: an error
	}{{"", 0}, {"0", 1}, {"0-3", 4}, {"0-3,8", 5}, {"0-3,2-4", 5}, {" 1 , 3\n", 2}, {"3-1", -1}, {"a", -1}, {"0-", -1}, {"-1", -1}, {"0,,1", -1}, {"99999999", -1}} {
		got, err := cpuListLen(c.list)
		if (err != nil) != (c.want < 0) || err == nil && got != c.want {
			t.Errorf("%q: %d, %v; want %d", c.list, got, err, c.want)
		}
	}
}

func FuzzCPUListLen(f *testing.F) {
	for _, s := range []string{"0-3,8", "", "1", "3-1", "0-65535", ",", "-"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, list string) {
		n, err := cpuListLen(list)
		if n < 0 || n > mostCPUs || err != nil && n != 0 {
			t.Errorf("%q: %d, %v", list, n, err)
		}
	})
}
