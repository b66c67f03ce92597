package maxprocs

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
		{"", 0, false, `have ""`},
		{"max max\n", 0, false, "period: "},
		{"1 2 3\n", 0, false, "QUOTA PERIOD"},
		{"1.5 100000\n", 0, false, `quota: want a positive number of microseconds, have "1.5"`},
		{"0 100000\n", 0, false, "quota: "},
		{"9223372036854775808 100000\n", 0, false, "quota: "},
		{strings.Repeat("9", 4096), 0, false, "bytes more"},
	} {
		cpus, limited, err := parseCPUMax([]byte(tc.text))
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
		{"50000\n", "", 0, false, "period: "},
		{"0\n", "100000\n", 0, false, "quota: "},
		{"max\n", "100000\n", 0, false, `quota: want a positive number of microseconds, have "max"`},
	} {
		cpus, limited, err := parseCFS([]byte(tc.quota), []byte(tc.period))
		if cpus != tc.cpus || limited != tc.limited || !matches(err, tc.bad) {
			t.Errorf("%q, %q: got %v, %v, %v; want %v, %v, error with %q", tc.quota, tc.period, cpus, limited, err, tc.cpus, tc.limited, tc.bad)
		}
	}
}

func TestParseCPUList(t *testing.T) {
	for _, tc := range []struct {
		text string
		want int
		bad  string
	}{
		{"0", 1, ""},
		{"0-3,8,10-11\n", 7, ""},
		{"63-64", 2, ""},
		{"0-1,1-2", 3, ""},
		{"", 0, ""},
		{"\n", 0, ""},
		{"65535", 1, ""},
		{"65536", 0, "65536"},
		{"3-1", 0, `"3-1"`},
		{"0-", 0, `"0-"`},
		{"-1", 0, `"-1"`},
		{"0,,1", 0, `""`},
		{"0-31:2/8", 0, "list of CPUs"},
	} {
		set, err := parseCPUList([]byte(tc.text))
		if set.count() != tc.want || !matches(err, tc.bad) {
			t.Errorf("%q: got %d, %v; want %d, error with %q", tc.text, set.count(), err, tc.want, tc.bad)
		}
	}
}

func TestLookupEnviron(t *testing.T) {
	environ := []byte("A=1\x00GOMAXPROCS=\x00GOMAXPROCS=7\x00NOVALUE\x00X=a=b\x00LAST=no NUL")
	for name, want := range map[string]string{"A": "1", "GOMAXPROCS": "", "X": "a=b", "LAST": "no NUL"} {
		if got, ok := lookupEnviron(environ, name); !ok || got != want {
			t.Errorf("%s: got %q, %v; want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"NOVALUE", "OMAXPROCS", "B"} {
		if got, ok := lookupEnviron(environ, name); ok {
			t.Errorf("%s: got %q, want none", name, got)
		}
	}
}

func TestParseProcCgroup(t *testing.T) {
	for _, tc := range []struct {
		text string
		want membership
		bad  string
	}{
		{"0::/a:b\n", membership{2, "/a:b", "0::/a:b"}, ""},
		{"0::/x\n2:cpu,cpuacct:/y\n", membership{1, "/y", "2:cpu,cpuacct:/y"}, ""},
		{"2:cpuacct,cpu:/y\n0::/x\n", membership{1, "/y", "2:cpuacct,cpu:/y"}, ""},
		{"3:cpuset:/s\n2:cpuacct:/y\n", membership{}, ""},
		{"", membership{}, ""},
		{"0::relative\n", membership{}, `"0::relative"`},
		{"junk\n0::/x\n", membership{2, "/x", "0::/x"}, ""},
		{"0::/no newline", membership{2, "/no newline", "0::/no newline"}, ""},
	} {
		got, err := parseProcCgroup([]byte(tc.text))
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
	want := []mount{
		{version: 1, cpu: true, root: `/do\cker`, point: "/sys/fs/cgroup/cpu"},
		{version: 1, root: "/", point: "/set"},
		{version: 2, root: "/", point: "/mnt/a b"},
	}
	got, err := parseMountinfo([]byte(text))
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
		got, ok := mount{root: tc.root, point: "/mnt"}.dir(tc.group)
		if got != tc.want || ok != (tc.want != "") {
			t.Errorf("root %s, group %s: got %q, %v; want %q", tc.root, tc.group, got, ok, tc.want)
		}
	}
}

func TestParseGoVersion(t *testing.T) {
	for text, want := range map[string]int{
		"1.26": 26, "go1.26.8": 26, "go1.27rc1": 27, "1.4.3": 4, "go1": 0, "1.5": 5,
		"devel go1.28-0f3ab1c Tue": 28, "go1.26.8 X:nodwarf5": 26, "go1.25.1-custom": 25,
	} {
		if got, err := parseGoVersion(text); got != want || err != nil {
			t.Errorf("%q: got %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "26", "go2.0", "1.", "go", "1.x", "1.99999999999999999999", "master"} {
		if got, err := parseGoVersion(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

// matches tells whether the error is the expected one; "" expects none.
func matches(err error, part string) bool {
	if err == nil || part == "" {
		return err == nil && part == ""
	}
	return strings.Contains(err.Error(), part)
}

func FuzzParseLimits(f *testing.F) {
	for _, s := range []string{"max 100000\n", "150000 100000\n", "1", "-1\n", "9223372036854775807 1", "\x00 \xff"} {
		f.Add([]byte(s), []byte("100000\n"))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		check := func(cpus float64, limited bool, err error) {
			if limited && (err != nil || !(cpus > 0) || math.IsInf(cpus, 0)) || !limited && cpus != 0 {
				t.Errorf("%q, %q: %v, %v, %v", a, b, cpus, limited, err)
			}
		}
		check(parseCPUMax(a))
		check(parseCFS(a, b))
		// What both know, both know alike.
		ours, limited, err := parseCPUMax(a)
		theirs, ok := runtimeLimit(Limit{Fact: Fact{Raw: string(a)}})
		if err == nil && limited && ok && ours != theirs {
			t.Errorf("%q: we read %v, the runtime %v", a, ours, theirs)
		}
	})
}

func FuzzParseCPUList(f *testing.F) {
	f.Add([]byte("0-3,8,10-11\n"))
	f.Add([]byte("65535"))
	f.Fuzz(func(t *testing.T, b []byte) {
		set, err := parseCPUList(b)
		if n := set.count(); n > maxCPUID || err != nil && n != 0 {
			t.Errorf("%q: %d CPUs, %v", b, n, err)
		}
		if _, _, err := parseAllowed(append([]byte("x\nCpus_allowed_list:\t"), b...)); err != nil && !strings.Contains(string(b), "\n") && set != nil {
			t.Errorf("%q is a list, but not in a status: %v", b, err)
		}
	})
}

func FuzzParseProcCgroup(f *testing.F) {
	f.Add([]byte("0::/x\n2:cpu,cpuacct:/y\n"), "/x")
	f.Fuzz(func(t *testing.T, b []byte, root string) {
		m, err := parseProcCgroup(b)
		if (m.version != 0) != strings.HasPrefix(m.path, "/") || m.version != 0 && err != nil {
			t.Errorf("%q: %+v, %v", b, m, err)
		}
		if dir, ok := (mount{root: root, point: "/m"}).dir(m.path); ok && dir != "/m" && !strings.HasPrefix(dir, "/m/") {
			t.Errorf("group %q, root %q: %q is outside of the mount", m.path, root, dir)
		}
	})
}

func FuzzParseMountinfo(f *testing.F) {
	f.Add([]byte("33 31 0:30 /do\\134cker /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu\n30 23 0:26 / /m rw - cgroup2 c rw\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		mounts, _ := parseMountinfo(b)
		for _, m := range mounts {
			if !strings.HasPrefix(m.root, "/") || !strings.HasPrefix(m.point, "/") || m.version != 1 && m.version != 2 {
				t.Errorf("%q: %+v", b, m)
			}
		}
	})
}

func FuzzLookupEnviron(f *testing.F) {
	f.Add([]byte("A=1\x00GOMAXPROCS=3\x00"), "GOMAXPROCS")
	f.Fuzz(func(t *testing.T, b []byte, name string) {
		if value, ok := lookupEnviron(b, name); ok && !strings.Contains(string(b), name+"="+value) {
			t.Errorf("%q has no %s=%s", b, name, value)
		}
		lookupEnviron(b, "")
		godebug(string(b), name)
	})
}

func FuzzParseGoVersion(f *testing.F) {
	f.Add("devel go1.28-0f3ab1c Tue")
	f.Add("1")
	f.Fuzz(func(t *testing.T, v string) {
		if minor, err := parseGoVersion(v); err == nil && (minor < 0 || minor > 1e4) {
			t.Errorf("%q: 1.%d", v, minor)
		}
	})
}
