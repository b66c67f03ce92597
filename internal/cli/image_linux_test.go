package cli

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/need"
)

// TestRanTelling: a line of any length is handed on, and a signal is named.
func TestRanTelling(t *testing.T) {
	sh := need.Command(t, "sh")
	long := strings.Repeat("x", 300_000)
	for name, c := range map[string]struct {
		script string
		lines  string
		code   int
		err    string
	}{
		"to its end":         {"echo a >&2; echo b >&2; exit 3", "a b", 3, ""},
		"a long line":        {"head -c 300000 /dev/zero | tr '\\0' x >&2; echo >&2; echo end >&2", long + " end", 0, ""},
		"without a last end": {"printf a >&2", "a", 0, ""},
		"killed":             {"echo a >&2; kill -9 $$", "a", 0, "ended there by a signal (killed)"},
	} {
		var lines []string
		code, err := ranTelling(exec.Command(sh, "-c", c.script), func(line string) { lines = append(lines, line) })
		if got := strings.Join(lines, " "); got != c.lines || code != c.code || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %.40q, %d, %v", name, got, code, err)
		}
	}
}
