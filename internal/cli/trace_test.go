package cli

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// A read that blocks ends with the context; what came before it is kept.
func TestInterruptibleEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	blocked, w := io.Pipe()
	defer w.Close()
	r := &interruptible{ctx: ctx, r: io.MultiReader(strings.NewReader("before"), blocked)}
	time.AfterFunc(50*time.Millisecond, cancel)
	got, err := io.ReadAll(r)
	if err != nil || string(got) != "before" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestInterruptibleReadsAll(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789"), 100_000)
	got, err := io.ReadAll(&interruptible{ctx: t.Context(), r: iotest.HalfReader(bytes.NewReader(text))})
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d bytes, %v; want %d", len(got), err, len(text))
	}
	if _, err := io.ReadAll(&interruptible{ctx: t.Context(), r: iotest.TimeoutReader(iotest.OneByteReader(bytes.NewReader(text)))}); err != iotest.ErrTimeout {
		t.Errorf("error %v", err)
	}
}

func TestTraceEnviron(t *testing.T) {
	for name, tc := range map[string]struct {
		o        traceOptions
		godebug  []string
		want     string
		interval time.Duration
		detail   bool
	}{
		"none":            {traceOptions{}, nil, "schedtrace=100", 100 * time.Millisecond, false},
		"others stay":     {traceOptions{}, []string{"a=1,b=2"}, "a=1,b=2,schedtrace=100", 100 * time.Millisecond, false},
		"its own":         {traceOptions{}, []string{"schedtrace=50,a=1"}, "a=1,schedtrace=50", 50 * time.Millisecond, false},
		"the flag":        {traceOptions{interval: 20 * time.Millisecond}, []string{"schedtrace=50"}, "schedtrace=20", 20 * time.Millisecond, false},
		"detail":          {traceOptions{detail: true}, nil, "schedtrace=1000,scheddetail=1", time.Second, true},
		"detail of its":   {traceOptions{}, []string{"scheddetail=1"}, "schedtrace=1000,scheddetail=1", time.Second, true},
		"no detail":       {traceOptions{}, []string{"scheddetail=0"}, "schedtrace=100", 100 * time.Millisecond, false},
		"the last counts": {traceOptions{}, []string{"a=1", "b=1"}, "b=1,schedtrace=100", 100 * time.Millisecond, false},
		"nonsense":        {traceOptions{}, []string{"schedtrace=x,,"}, "schedtrace=100", 100 * time.Millisecond, false},
	} {
		env := []string{"HOME=/"}
		for _, v := range tc.godebug {
			env = append(env, "GODEBUG="+v)
		}
		got, interval, detail := tc.o.environ(env)
		if !slices.Equal(got, []string{"HOME=/", "GODEBUG=" + tc.want}) || interval != tc.interval || detail != tc.detail {
			t.Errorf("%s: %q, %s, %v", name, got, interval, detail)
		}
	}
}

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
