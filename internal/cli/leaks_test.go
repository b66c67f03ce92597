package cli

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/procfit/procfit/test/need"
)

// leaks are words of libraries, which tell a user nothing.
var leaks = regexp.MustCompile(`strconv|time: |dial tcp|listen tcp|KUBERNETES_MASTER|parsing "|error parsing regexp|invalid syntax|missing unit|%!|<nil>|(: |^procfit: )(l?stat|open|read|fork/exec|mkdir) \S+: |invalid argument "`)

// wrong are values that no flag takes, or few.
var wrong = []string{"", "abc", "-1", "0", "10", "1e999", "99999999999999999999", "nosuch/file", "/dev/null/x", "(", "{", "http://[::1", "http://127.0.0.1:99999/", "a=b=c", "%", "p99=", "1..", ",", "\x00\u202e"}

// TestNoLibraryWords gives wrong values to every flag and as the argument of every command;
// in the first tier each flag gets a quarter of them, in turn. The context has ended, so that
// what takes a value does nothing with it.
func TestNoLibraryWords(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tried, every := 0, 4
	if need.Whole() {
		every = 1
	}
	try := func(args ...string) {
		if tried++; tried%every > 0 {
			return
		}
		var out bytes.Buffer
		Main(ctx, args, strings.NewReader(""), &out, &out)
		if leak := leaks.FindString(out.String()); leak != "" {
			t.Errorf("procfit %q has %q in\n%s", args, leak, out.String())
		}
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		words := strings.Fields(c.CommandPath())[1:]
		c.Flags().VisitAll(func(f *pflag.Flag) {
			for _, value := range wrong {
				try(append(slices.Clone(words), "--"+f.Name+"="+value)...)
			}
		})
		for _, value := range wrong {
			try(append(slices.Clone(words), value)...)
		}
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				walk(sub)
			}
		}
	}
	walk(newRoot(stdio{}))
	if tried < 2000 {
		t.Errorf("only %d wrong words were tried", tried)
	}
}
