package phrase

import (
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

var nasty = []string{
	"", "plain", "it's", "$HOME", "`id`", "$(id)", "a b", "a\nb", "tab\there", "\x1b[31m", "\u202e", "\xff\x00"[:1],
	`back\slash`, "*", "{a,b}", "{port}", "~", "#", "!x", "&&", "é", "\x7f1", "'\n'", "-n", "{1..3}", "%s",
}

func TestQuotedWordsReadBackAsTheyWere(t *testing.T) {
	bash := need.Command(t, "bash")
	out := must.Get(exec.Command(bash, "-c", "printf '%s\\0' "+Shell(nasty)).Output())(t)
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(got) != len(nasty) {
		t.Fatalf("%d words, want %d: %q", len(got), len(nasty), got)
	}
	for i := range got {
		if got[i] != nasty[i] {
			t.Errorf("%q came back as %q, from %s", nasty[i], got[i], ShellWord(nasty[i]))
		}
	}
}

func TestPlainWordsStayReadable(t *testing.T) {
	if got, want := Shell([]string{"./server", "-addr", ":{port}", "--x=1,2"}), "./server -addr :{port} --x=1,2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func FuzzQuotePrints(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range ShellWord(s) {
			if !unicode.IsPrint(r) {
				t.Errorf("ShellWord(%q) holds %U", s, r)
			}
		}
	})
}
