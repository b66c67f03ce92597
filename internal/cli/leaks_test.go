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
)

// leaks are words of libraries, which tell a user nothing.
var leaks = regexp.MustCompile(`strconv|time: |dial tcp|listen tcp|KUBERNETES_MASTER|parsing "|error parsing regexp|invalid syntax|missing unit|%!|<nil>|(: |^procfit: )(l?stat|open|read|fork/exec|mkdir) \S+: |invalid argument "`)

// wrong are values that no flag takes, or few.
var wrong = []string{"", "abc", "-1", "0", "10", "1e999", "99999999999999999999", "nosuch/file", "/dev/null/x", "(", "{", "http://[::1", "http://127.0.0.1:99999/", "a=b=c", "%", "p99=", "1..", ",", "\x00\u202e"}

// leaking are flags whose errors are still a library's. Each is removed from here when it
// no longer is.
var leaking []string

// TestNoLibraryWords gives wrong values to every flag and as the argument of every command.
// The context has ended, so that what takes a value does nothing with it.
func TestNoLibraryWords(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var found []string
	tried := 0
	try := func(name string, args ...string) {
		tried++
		var out bytes.Buffer
		Main(ctx, args, strings.NewReader(""), &out, &out)
		if leak := leaks.FindString(out.String()); leak != "" {
			if !slices.Contains(found, name) {
				found = append(found, name)
			}
			if !slices.Contains(leaking, name) {
				t.Errorf("procfit %q has %q in\n%s", args, leak, out.String())
			}
		}
	}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		words := strings.Fields(c.CommandPath())[1:]
		c.Flags().VisitAll(func(f *pflag.Flag) {
			for _, value := range wrong {
				args := append(slices.Clone(words), "--"+f.Name+"="+value)
				try(strings.Join(words, " ")+" --"+f.Name, args...)
			}
		})
		for _, value := range wrong {
			try(strings.Join(words, " "), append(slices.Clone(words), value)...)
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
	for _, name := range leaking {
		if !slices.Contains(found, name) {
			t.Errorf("%s has words of its own: remove it from the list of exceptions", name)
		}
	}
}
