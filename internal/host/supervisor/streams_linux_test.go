//go:build !portable

package supervisor

import (
	"io"
	"os"
	"testing"
	"time"
)

// A target with streams of its own reads and writes those, and their end is seen
// when it has ended, though it left a child behind that holds them.
func TestStreams(t *testing.T) {
	var ours, theirs [3]*os.File
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		ours[i], theirs[i] = r, w
		if i == 0 {
			ours[i], theirs[i] = w, r
		}
		defer ours[i].Close()
	}
	p, err := Start(t.Context(), Spec{
		Command: []string{"sh", "-c", "(sleep 600 &) ; cat; echo problem >&2"},
		Env:     os.Environ(),
		Streams: &Streams{theirs[0], theirs[1], theirs[2]},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range theirs {
		f.Close()
	}
	_, _ = io.WriteString(ours[0], "hello\n")
	ours[0].Close()
	for i, want := range []string{"", "hello\n", "problem\n"} {
		if i == 0 {
			continue
		}
		_ = ours[i].SetReadDeadline(time.Now().Add(10 * time.Second))
		got, err := io.ReadAll(ours[i])
		if err != nil || string(got) != want {
			t.Errorf("stream %d: %q, %v; want %q", i, got, err, want)
		}
	}
	if exit, err := p.Wait(); err != nil || exit.Code != 0 || exit.OutputBytes != 0 {
		t.Errorf("%+v, %v", exit, err)
	}
}
