package target

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestHeadTail(t *testing.T) {
	const limit = 10 // 5 and 5
	for _, test := range []struct {
		writes []string
		want   string
	}{
		{nil, ""},
		{[]string{"abc"}, "abc"},
		{[]string{"abcde", "fghij"}, "abcdefghij"},
		{[]string{"abcdefghij"}, "abcdefghij"},
		{[]string{"abcdefghijk"}, "abcde\n[procfit: 1 bytes left out]\nghijk"},
		{[]string{"ab", "cdefg", "h", "ijklmnopq", "rs"}, "abcde\n[procfit: 9 bytes left out]\nopqrs"},
	} {
		var file bytes.Buffer
		h := newHeadTail(&file, limit)
		for _, w := range test.writes {
			if n, err := h.Write([]byte(w)); n != len(w) || err != nil {
				t.Fatalf("write %q: %d, %v", w, n, err)
			}
		}
		if err := h.Close(); err != nil || file.String() != test.want {
			t.Errorf("%q: got %q, %v, want %q", test.writes, file.String(), err, test.want)
		}
	}
}

// A full disk costs the log, and neither the target nor the tail.
func TestHeadTailDiskFull(t *testing.T) {
	r, w := io.Pipe()
	full := errors.New("no space left on device")
	r.CloseWithError(full)
	h := newHeadTail(w, 10)
	if n, err := h.Write([]byte("abcdefgh")); n != 8 || err != nil {
		t.Errorf("write: %d, %v", n, err)
	}
	if got := string(h.Tail()); got != "abcdefgh" {
		t.Errorf("tail %q", got)
	}
	if err := h.Close(); !errors.Is(err, full) {
		t.Errorf("close: %v, want %v", err, full)
	}
}

func TestTailIsBounded(t *testing.T) {
	var file bytes.Buffer
	h := newHeadTail(&file, 0)
	for i := range 10_000 {
		fmt.Fprintf(h, "line %d\n", i)
	}
	tail := string(h.Tail())
	if len(tail) != tailBytes || !strings.HasSuffix(tail, "\nline 9999\n") {
		t.Errorf("%d bytes, ending %q", len(tail), tail[len(tail)-20:])
	}
	if h.Close(); strings.Count(file.String(), "\n") != 2 {
		t.Errorf("a limit of 0 kept %q", file.String())
	}
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
		{"\x1b[31mred\a\x00\n", 1, `\x1b[31mred\a\x00`},
		{"tab\there é 世", 1, "tab\there é 世"},
		{"\u202egnp.exe\n", 1, `\u202egnp.exe`},
		{"bad \xff", 1, "bad \uFFFD"},
	} {
		if got := lastLines([]byte(test.output), test.n); got != test.want {
			t.Errorf("%q: got %q, want %q", test.output, got, test.want)
		}
	}
}

func FuzzHeadTail(f *testing.F) {
	f.Add([]byte("abcdefghijklmnop"), uint8(10), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, limit, step uint8) {
		var file bytes.Buffer
		h := newHeadTail(&file, int64(limit))
		for rest := data; len(rest) > 0; {
			n := min(len(rest), int(step)+1)
			h.Write(rest[:n])
			rest = rest[n:]
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		want := string(data)
		if out := len(data) - int(limit); out > 0 {
			end := int(limit) / 2
			want = fmt.Sprintf("%s\n[procfit: %d bytes left out]\n%s", data[:int(limit)-end], out, data[len(data)-end:])
		}
		if file.String() != want {
			t.Fatalf("limit %d: got %q, want %q", limit, file.String(), want)
		}
	})
}

func FuzzLastLines(f *testing.F) {
	f.Add([]byte("a\x1b[2J\r\nb"), 1)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		for _, r := range lastLines(data, max(0, n)) {
			if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
				t.Fatalf("control character %q is left", r)
			}
		}
	})
}
