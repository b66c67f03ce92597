package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
)

// happens waits for what another process does, and reports whether it did so in time.
func happens(event func() bool) bool {
	for begun := time.Now(); !event(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > time.Minute {
			return false
		}
	}
	return true
}

// assertRemoved fails for each file or folder that is still there, and removes it.
func assertRemoved(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s: %v", path, err)
			os.RemoveAll(path)
		}
	}
}

// awaitOutput waits until a text is several times in the output.
func awaitOutput(t *testing.T, p *Process, text string, times int) {
	t.Helper()
	if !happens(func() bool { return strings.Count(p.LastWords(1000).Text, text) >= times }) {
		t.Fatalf("no %q in the output: %s", text, p.LastWords(1000).Text)
	}
}

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
		{[]string{"a\nb\nc", "d\nef\n"}, "a\nb\ncd\nef\n"},
		{[]string{"abcdefghijk"}, "\n[procfit: 6 bytes skipped]\nghijk"},                     // half a line at the head is no line
		{[]string{"a\nb\n12", "3456\nc\nd\n"}, "a\nb\n\n[procfit: 7 bytes skipped]\nc\nd\n"}, // the number that was cut
		{[]string{"a\nb\n", "12345678\n", "de\nf\n"}, "a\nb\n\n[procfit: 9 bytes skipped]\nde\nf\n"},
		{[]string{"a\nb\n", "12345678\n", "defgh"}, "a\nb\n\n[procfit: 9 bytes skipped]\ndefgh"},
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
	if got := string(h.Output().Tail); got != "abcdefgh" {
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
	tail := string(h.Output().Tail)
	if len(tail) != tailBytes || !strings.HasSuffix(tail, "\nline 9999\n") {
		t.Errorf("%d bytes, ending %q", len(tail), tail[len(tail)-20:])
	}
	if h.Close(); strings.Count(file.String(), "\n") != 2 {
		t.Errorf("a limit of 0 kept %q", file.String())
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
		must.OK(t, h.Close())
		got := file.Bytes()
		if len(data) <= int(limit) {
			if h.cut() || !bytes.Equal(got, data) {
				t.Fatalf("limit %d: got %q, want %q", limit, got, data)
			}
			return
		}
		// What is kept is a beginning and an end, in whole lines where there are any.
		for at := 0; ; at++ {
			i := bytes.Index(got[min(at, len(got)):], []byte("\n[procfit: "))
			if i < 0 || !h.cut() {
				t.Fatalf("limit %d: %q became %q", limit, data, got)
			}
			at += i
			var out int
			fmt.Sscanf(string(got[at:]), "\n[procfit: %d bytes", &out)
			mark := fmt.Sprintf("\n[procfit: %d bytes skipped]\n", out)
			tail, ok := bytes.CutPrefix(got[at:], []byte(mark))
			if ok && at+out+len(tail) == len(data) && bytes.HasPrefix(data, got[:at]) && bytes.HasSuffix(data, tail) && at+len(tail) <= int(limit) {
				if at > 0 && data[at-1] != '\n' {
					t.Fatalf("limit %d: half a line of %q in %q", limit, data, got)
				}
				return
			}
		}
	})
}
