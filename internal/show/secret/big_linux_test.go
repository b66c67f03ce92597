package secret

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a command line can hold is judged in a moment, however it is quoted. The moment is CPU
// time, since other programs may use the CPUs.
func TestBig(t *testing.T) {
	nested := "--token x"
	for len(nested) < 15_000 {
		nested = "sh -c '" + strings.ReplaceAll(nested, "'", `'\''`) + "'"
	}
	for name, s := range map[string]string{
		"JSON":        "[" + strings.Repeat(`{"name": "it's a \"word\" of text", "password": "x y"}, `, 500) + "]",
		"backslashes": strings.Repeat(`\`, 6_000) + " x",
		"quotes":      strings.Repeat(`'"`, 12_000),
		"more quotes": strings.Repeat(`"\"'`, 8_000),
		"escapes":     strings.Repeat(`'\''`, 6_000),
		"words":       strings.Repeat("--token x ", 2_500),
		"deep":        strings.Repeat(`\\\\\\"\\'"'`, 2_500) + " --token x",
		"commands":    strings.Repeat("a;", 12_000),
		"colons":      strings.Repeat("a:", 12_000),
		"a shell's":   nested,
	} {
		began := used(t)
		Text(s)
		if took := used(t) - began; took > 2*time.Second {
			t.Errorf("%s: %v for %d bytes", name, took, len(s))
		}
	}
}

// used is the CPU time of this process until now.
func used(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
