package facts

import (
	"strings"
	"testing"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
)

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

// matches reports whether the error is the expected one; "" expects none.
func matches(err error, part string) bool {
	if err == nil || part == "" {
		return err == nil && part == ""
	}
	return strings.Contains(err.Error(), part)
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

// FuzzRuntimeLimit holds that what both know, both know the same.
func FuzzRuntimeLimit(f *testing.F) {
	f.Add("150000 100000\n")
	f.Add("max 100000\n")
	f.Fuzz(func(t *testing.T, text string) {
		ours, limited, err := cgfs.ParseCPUMax(text)
		theirs, ok := runtimeLimit(Limit{Fact: Fact{Raw: text}}, minorPlusSign)
		if err == nil && limited && ok && ours != theirs {
			t.Errorf("%q: we read %v, the runtime %v", text, ours, theirs)
		}
	})
}
