package supervisor

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// A crash is quoted from where it begins, whatever was printed before and after.
func TestQuote(t *testing.T) {
	stacks := strings.Repeat("\ngoroutine 7 [running]:\nmain.work()\n\t/src/main.go:9 +0x1d\n", 500)
	deadlock := "fatal error: all goroutines are asleep - deadlock!\n"
	for _, test := range []struct {
		output string
		crash  bool
		want   string // of two lines
	}{
		{"", false, ""},
		{"a\nb\nc\n", false, "b\nc"},
		{"log\npanic: no money\n" + stacks, true, "panic: no money"},
		{"log\n" + deadlock + stacks, true, "fatal error: all goroutines are asleep - deadlock!"},
		{"panic: no money [recovered]\n\tpanic: again\n" + stacks, true, "panic: no money [recovered]\n panic: again"},
		{"runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\n" + stacks, true,
			"runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow"},
		{"SIGQUIT: quit\nPC=0x47\n" + stacks, true, "SIGQUIT: quit\nPC=0x47"},
		{"panic: survived\n" + strings.Repeat("log\n", 2000) + deadlock + stacks, true, "fatal error: all goroutines are asleep - deadlock!"},
		{"runtime: a note\n" + strings.Repeat("log\n", 20) + deadlock + stacks, true, "fatal error: all goroutines are asleep - deadlock!"},
		{"runtime: a note\n" + strings.Repeat("log\n", 20), false, "log\nlog"},
		{"no panic: here\nSIGNAL x: y\nSIGnal: y\n", false, "SIGNAL x: y\nSIGnal: y"},
		{"panic: \x1b[2J cut off", true, `panic: \x1b[2J cut off`},
	} {
		got := QuoteOutput([]byte(test.output), 2)
		if got.Crash != test.crash || got.Text != test.want {
			t.Errorf("%.60q: got %+v, want %v %q", test.output, got, test.crash, test.want)
		}
	}
}

// What is found does not depend on how the output came in.
func FuzzQuote(f *testing.F) {
	f.Add([]byte("log\npanic: x\n\ngoroutine 1 [running]:\n"), uint8(3))
	f.Add([]byte("runtime: x\n1\n2\n3\n4\n5\nfatal error: y"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		var c crash
		for rest := data; len(rest) > 0; {
			n := min(len(rest), int(step)+1)
			c.Write(rest[:n])
			rest = rest[n:]
		}
		var whole crash
		whole.Write(data)
		if got, want := c.text(), whole.text(); !bytes.Equal(got, want) {
			t.Fatalf("%q in steps of %d: %q, want %q", data, step, got, want)
		}
		if len(c.found) > crashBytes+crashLine {
			t.Fatalf("%d bytes are kept", len(c.found))
		}
		if q := QuoteOutput(data, 3); strings.Count(q.Text, "\n") > 2 {
			t.Fatalf("%q gives %q", data, fmt.Sprint(q))
		}
	})
}

func TestLastLines(t *testing.T) {
	for _, test := range []struct {
		output string
		n      int
		want   string
	}{
		{"", 3, ""},
		{"a\nb\nc\n", 2, "b\nc"},
		{"a\r\nb\r\n", 5, "a\nb"},
		{"\x1b[31mred\a\x00\n", 1, `\x1b[31mred\x07\x00`},
		{"tab\there é 世", 1, "tab here é 世"},
		{"\u202egnp.exe\n", 1, `\u202egnp.exe`},
		{"bad \xff", 1, `bad \xff`},
	} {
		if got := LastLines([]byte(test.output), test.n); got != test.want {
			t.Errorf("%q: got %q, want %q", test.output, got, test.want)
		}
	}
}

func FuzzLastLines(f *testing.F) {
	f.Add([]byte("a\x1b[2J\r\nb"), 1)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		for _, r := range LastLines(data, max(0, n)) {
			if r < ' ' && r != '\n' || r == 0x7f {
				t.Fatalf("control character %q is left", r)
			}
		}
	})
}
