package agent

import (
	"context"
	"errors"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// TestTry: the lines of an experiment come in order and once, its journal at the end, and the end of
// the asker's time ends it as Ctrl-C does, with the journal that it has.
func TestTry(t *testing.T) {
	part := mostPart
	mostPart = 3 // of seven bytes
	t.Cleanup(func() { mostPart = part })
	for name, c := range map[string]struct {
		stopped bool
		err     error
		code    int
	}{"to its end": {code: 1}, "stopped": {stopped: true, code: 130}, "failed": {err: errors.New("no room")}} {
		s := NewServer("token", nil)
		s.Try = func(ctx context.Context, args []string, tell func(string)) ([]byte, int, error) {
			for _, a := range args {
				tell(a)
			}
			if c.stopped {
				<-ctx.Done()
			}
			return []byte("journal"), c.code, c.err
		}
		web := httptest.NewServer(s.Handler(t.Context()))
		client := asker(&through{to: web.Listener.Addr().String()}, time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		var lines []string
		got, err := client.Try(ctx, []string{":8080", "--procs", "1,2"}, func(line string) {
			if lines = append(lines, line); c.stopped && len(lines) == 3 {
				cancel()
			}
		})
		if (err == nil) != (c.err == nil) || got.Code != c.code || string(got.Journal) != "journal" || !slices.Equal(lines, []string{":8080", "--procs", "1,2"}) {
			t.Errorf("%s: %+v, %v, %q", name, got, err, lines)
		}
		cancel()
		web.Close()
	}
}
