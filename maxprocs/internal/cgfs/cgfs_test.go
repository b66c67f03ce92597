package cgfs

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestParseCPUMax(t *testing.T) {
	for _, tc := range []struct {
		text    string
		cpus    float64
		limited bool
		bad     string // in the error
	}{
		{"max 100000\n", 0, false, ""},
		{"max\n", 0, false, ""},
		{"150000 100000\n", 1.5, true, ""},
		{"1000 1000000\n", 0.001, true, ""},
		{"17592186044416 100000", 175921860.44416, true, ""},
		{"150000", 1.5, true, ""},
		{"", 0, false, `got ""`},
		{"max max\n", 0, false, "period: "},
		{"1 2 3\n", 0, false, "QUOTA PERIOD"},
		{"1.5 100000\n", 0, false, `quota: expected a positive number of microseconds, got "1.5"`},
		{"0 100000\n", 0, false, "quota: "},
		{"9223372036854775808 100000\n", 0, false, "quota: "},
		{strings.Repeat("9", 4096), 0, false, "more bytes"},
	} {
		cpus, limited, err := ParseCPUMax(tc.text)
		if cpus != tc.cpus || limited != tc.limited || !matches(err, tc.bad) {
			t.Errorf("%.60q: got %v, %v, %v; want %v, %v, error with %q", tc.text, cpus, limited, err, tc.cpus, tc.limited, tc.bad)
		}
	}
}

func TestParseCFS(t *testing.T) {
	for _, tc := range []struct {
		quota, period string
		cpus          float64
		limited       bool
		bad           string
	}{
		{"-1\n", "100000\n", 0, false, ""},
		{"-1\n", "", 0, false, ""},
		{"50000\n", "100000\n", 0.5, true, ""},
		{"50000\n", "0\n", 0, false, "period: "},
		{"0\n", "0\n", 0, false, ""},
		{"50000\n", "", 0, false, "period: "},
		{"0\n", "100000\n", 0, false, "quota: "},
		{"max\n", "100000\n", 0, false, `quota: expected a positive number of microseconds, got "max"`},
	} {
		cpus, limited, err := ParseCFS(tc.quota, tc.period)
		if cpus != tc.cpus || limited != tc.limited || !matches(err, tc.bad) {
			t.Errorf("%q, %q: got %v, %v, %v; want %v, %v, error with %q", tc.quota, tc.period, cpus, limited, err, tc.cpus, tc.limited, tc.bad)
		}
	}
}

func TestParseMembership(t *testing.T) {
	for _, tc := range []struct {
		text string
		want Membership
		bad  string
	}{
		{"0::/a:b\n", Membership{2, "/a:b", "0::/a:b", CPU}, ""},
		{"0::/x\n2:cpu,cpuacct:/y\n", Membership{1, "/y", "2:cpu,cpuacct:/y", CPU}, ""},
		{"2:cpuacct,cpu:/y\n0::/x\n", Membership{1, "/y", "2:cpuacct,cpu:/y", CPU}, ""},
		{"3:cpuset:/s\n2:cpuacct:/y\n", Membership{}, ""},
		{"", Membership{}, ""},
		{"0::relative\n", Membership{}, `"0::relative"`},
		{"junk\n0::/x\n", Membership{2, "/x", "0::/x", CPU}, ""},
		{"0::/no newline", Membership{2, "/no newline", "0::/no newline", CPU}, ""},
	} {
		got, err := ParseMembership(tc.text, CPU)
		if got != tc.want || !matches(err, tc.bad) {
			t.Errorf("%q: got %+v, %v; want %+v, error with %q", tc.text, got, err, tc.want, tc.bad)
		}
	}
}

func TestParseMountinfo(t *testing.T) {
	long := "50 22 0:50 / /var/overlay rw - overlay overlay rw,lowerdir=" + strings.Repeat("/layer:", 20_000) + "\n"
	text := long +
		"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n" +
		"33 31 0:30 /do\\134cker /sys/fs/cgroup/cpu rw,relatime shared:9 master:1 - cgroup cgroup rw,cpu,cpuacct\n" +
		"34 31 0:31 / /set rw - cgroup cgroup rw,cpuset\n" +
		"short - cgroup2 c rw\n" +
		"30 23 0:26 / /mnt/a\\040b rw - cgroup2 cgroup2 rw\n" +
		"no separator\n"
	want := []Mount{
		{Version: 1, CPU: true, Root: `/do\cker`, Point: "/sys/fs/cgroup/cpu"},
		{Version: 1, Root: "/", Point: "/set"},
		{Version: 2, Root: "/", Point: "/mnt/a b"},
	}
	got, err := ParseMountinfo(text)
	if !reflect.DeepEqual(got, want) || !matches(err, "at least 6 fields") {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestMountDir(t *testing.T) {
	for _, tc := range []struct{ root, group, want string }{
		{"/", "/", "/mnt"},
		{"/", "/a/b", "/mnt/a/b"},
		{"/a", "/a", "/mnt"},
		{"/a", "/a/b", "/mnt/b"},
		{"/a", "/ab", ""},
		{"/a/b", "/a", ""},
		{"/", "/../x", ""},
		{"/..", "/../x", "/mnt/x"},
		{"/..", "/../../x", ""},
		{"/", "/a/../../etc", ""},
		{"/", "/..a", "/mnt/..a"},
	} {
		got, ok := Mount{Root: tc.root, Point: "/mnt"}.Dir(tc.group)
		if got != tc.want || ok != (tc.want != "") {
			t.Errorf("root %s, group %s: got %q, %v; want %q", tc.root, tc.group, got, ok, tc.want)
		}
	}
}

func TestMountAbove(t *testing.T) {
	for _, tc := range []struct {
		root, group string
		want        bool
	}{
		{"/..", "/", true},
		{"/../..", "/x/y", true},
		{"/../..", "/../x", true},
		{"/..", "/../x", false}, // it shows the group
		{"/..", "/../../x", false},
		{"/../x", "/", false}, // a sibling
		{"/..a", "/", false},
		{"/", "/x", false},
		{"/", "/../x", false},
	} {
		m := Mount{Version: 2, Root: tc.root, Point: "/mnt"}
		if got := m.Above(tc.group); got != tc.want {
			t.Errorf("root %s, group %s: %v", tc.root, tc.group, got)
		}
		if _, shown := m.Dir(tc.group); shown && tc.want {
			t.Errorf("root %s, group %s: shown, and above", tc.root, tc.group)
		}
	}
	mounts := []Mount{
		{Version: 1, Root: "/..", Point: "/v1"}, {Version: 2, Root: "/..", Point: "/v2"},
		{Version: 2, Root: "/../..", Point: "/own"}, {Version: 2, Root: "/", Point: "/own"}, // over it
	}
	if got := (Membership{Version: 2, Path: "/"}).Above(mounts); len(got) != 1 || got[0].Point != "/v2" {
		t.Errorf("above a v2 group: %+v", got)
	}
}

// matches reports whether the error is the expected one; "" expects none.
func matches(err error, part string) bool {
	if err == nil || part == "" {
		return err == nil && part == ""
	}
	return strings.Contains(err.Error(), part)
}

func FuzzParseLimits(f *testing.F) {
	for _, s := range []string{"max 100000\n", "150000 100000\n", "1", "-1\n", "9223372036854775807 1", "\x00 \xff"} {
		f.Add(s, "100000\n")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		check := func(cpus float64, limited bool, err error) {
			if limited && (err != nil || !(cpus > 0) || math.IsInf(cpus, 0)) || !limited && cpus != 0 {
				t.Errorf("%q, %q: %v, %v, %v", a, b, cpus, limited, err)
			}
		}
		check(ParseCPUMax(a))
		if burst, err := ParseBurst(a, b); !(burst >= 0) || math.IsInf(burst, 0) || err != nil && burst != 0 {
			t.Errorf("%q, %q: a burst of %v, %v", a, b, burst, err)
		}
		if _, _, err := ParseCPUMax(a); err == nil {
			if _, err := ParseBurst("0", Period(a)); err != nil {
				t.Errorf("%q has a period that cannot be read: %v", a, err)
			}
		}
		check(ParseCFS(a, b))
	})
}

func FuzzParseProcCgroup(f *testing.F) {
	f.Add("0::/x\n2:cpu,cpuacct:/y\n", "/x")
	f.Fuzz(func(t *testing.T, b string, root string) {
		m, err := ParseMembership(b, CPU)
		if (m.Version != 0) != strings.HasPrefix(m.Path, "/") || m.Version != 0 && err != nil {
			t.Errorf("%q: %+v, %v", b, m, err)
		}
		if dir, ok := (Mount{Root: root, Point: "/m"}).Dir(m.Path); ok && dir != "/m" && !strings.HasPrefix(dir, "/m/") {
			t.Errorf("group %q, root %q: %q is outside of the mount", m.Path, root, dir)
		}
	})
}

func FuzzParseMountinfo(f *testing.F) {
	f.Add("33 31 0:30 /do\\134cker /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu\n30 23 0:26 / /m rw - cgroup2 c rw\n")
	f.Fuzz(func(t *testing.T, b string) {
		mounts, _ := ParseMountinfo(b)
		for _, m := range mounts {
			if !strings.HasPrefix(m.Root, "/") || !strings.HasPrefix(m.Point, "/") || m.Version != 1 && m.Version != 2 {
				t.Errorf("%q: %+v", b, m)
			}
		}
	})
}
