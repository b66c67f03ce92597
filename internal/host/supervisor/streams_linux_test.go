//go:build !portable

package supervisor

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
)

// A target with streams of its own reads and writes those, and their end is seen
// when it has ended, though it left a child behind that holds them.
func TestStreams(t *testing.T) {
	var ours, theirs [3]*os.File
	for i := range ours {
		r, w, err := os.Pipe()
		must.OK(t, err)
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
	must.OK(t, err)
	for _, f := range theirs {
		f.Close()
	}
	_, _ = io.WriteString(ours[0], "hello\n")
	ours[0].Close()
	for i, want := range []string{"", "hello\n", "problem\n"} {
		if i == 0 {
			continue
		}
		_ = ours[i].SetReadDeadline(time.Now().Add(time.Minute))
		got, err := io.ReadAll(ours[i])
		if err != nil || string(got) != want {
			t.Errorf("stream %d: %q, %v; want %q", i, got, err, want)
		}
	}
	if exit, err := p.Wait(); err != nil || exit.Code != 0 || exit.OutputBytes != 0 {
		t.Errorf("%+v, %v", exit, err)
	}
}

// Standard error has a log of its own where one is given, so that what floods it takes no
// room of the other; messages quote it too.
func TestErrorLog(t *testing.T) {
	dir := t.TempDir()
	var logs [2]*os.File
	for i, name := range []string{"out", "errors"} {
		f := must.Get(os.Create(filepath.Join(dir, name)))(t)
		defer f.Close()
		logs[i] = f
	}
	const limit = 4 << 10
	p, err := Start(t.Context(), Spec{
		Command: []string{"sh", "-c", "echo result; i=0; while [ $i -lt 500 ]; do echo a line of the errors >&2; i=$((i+1)); done; echo the end >&2; echo PASS; exit 3"},
		Env:     os.Environ(), Log: logs[0], ErrorLog: logs[1], LogLimit: limit,
	})
	must.OK(t, err)
	exit, err := p.Wait()
	if err != nil || exit.Code != 3 || exit.LogCut || exit.OutputBytes != int64(len("result\nPASS\n")) {
		t.Errorf("%+v, %v", exit, err)
	}
	if b, err := os.ReadFile(logs[0].Name()); err != nil || string(b) != "result\nPASS\n" {
		t.Errorf("the log has %q, %v", b, err)
	}
	b, err := os.ReadFile(logs[1].Name())
	if text := string(b); err != nil || len(b) > 2*limit || !strings.HasPrefix(text, "a line of the errors\n") || !strings.HasSuffix(text, "the end\n") || !strings.Contains(text, " bytes skipped]") {
		t.Errorf("the log of the errors has %d bytes, %v", len(b), err)
	}
	if words := p.LastWords(20).String(); !strings.Contains(words, "the end") {
		t.Errorf("the message quotes %q", words)
	}
}
