package procstat

import (
	"strings"
	"testing"
)

const statusMemory = "Name:\tserver\nVmPeak:\t 2001234 kB\nVmHWM:\t   34568 kB\nVmRSS:\t   31044 kB\nRssAnon:\t   20000 kB\n"

func TestParseMemory(t *testing.T) {
	m, err := parseMemory([]byte(statusMemory))
	if err != nil || m != (Memory{Resident: 31044 << 10, Peak: 34568 << 10}) {
		t.Errorf("%+v, %v", m, err)
	}
	for in, want := range map[string]string{
		"Name:\tkthreadd\nThreads:\t1\n":                      "no VmRSS",
		strings.Replace(statusMemory, "VmHWM", "VmHwm", 1):    "no VmHWM",
		strings.Replace(statusMemory, "31044 kB", "31044", 1): "not in kB",
		strings.Replace(statusMemory, "31044", "-1", 1):       "VmRSS",
		strings.Replace(statusMemory, "31044", "1e9", 1):      "VmRSS",
	} {
		if m, err := parseMemory([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want an error with %q", in, m, err, want)
		}
	}
}

func FuzzParseMemory(f *testing.F) {
	f.Add([]byte(statusMemory))
	f.Add([]byte("\nVmRSS:\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := parseMemory(b); err == nil && (m.Resident < 0 || m.Peak < 0) {
			t.Errorf("%q: %+v", b, m)
		}
	})
}
