package trace

import (
	"bytes"
	"io"
	"testing"
)

// The line is erased before a program's output and drawn again after it, but not
// within a line of it.
func TestLiveLine(t *testing.T) {
	var b bytes.Buffer
	l := newLiveLine(&b)
	l.set("nothing: no terminal")
	io.WriteString(l, "plain\n")
	l.finish()
	if b.String() != "plain\n" {
		t.Errorf("without a terminal: %q", b.String())
	}
	b.Reset()
	l = &liveLine{out: &b, width: 10}
	l.set("state one, too long")
	io.WriteString(l, "a")
	l.set("two")
	io.WriteString(l, "b\n")
	l.finish()
	const erase = "\r\x1b[K"
	if want := "state one" + erase + "ab\ntwo" + erase; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
