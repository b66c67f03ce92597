package cli

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// TestTyped: Ctrl-C ends the wait for an answer that nobody types.
func TestTyped(t *testing.T) {
	for in, want := range map[string]string{"y\n": "y\n", "yes\nno\n": "yes\n", "y": "", "": ""} {
		if got := typed(t.Context(), strings.NewReader(in)); got != want {
			t.Errorf("of %q: %q, want %q", in, got, want)
		}
	}
	in, keys := io.Pipe()
	defer keys.Close()
	late := time.AfterFunc(10*time.Second, func() { io.WriteString(keys, "y\n") })
	defer late.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if got := typed(ctx, in); got != "" {
		t.Errorf("%q, and the signal was ignored", got)
	}
}
