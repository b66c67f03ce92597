package run

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// lastRelease is a copy of a folder that the release before journals of v2 wrote, of
// trials in the directory "/".
func lastRelease(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "v1", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A program that hung is known from its words there, and counts as one that did.
func TestLastReleaseHung(t *testing.T) {
	dir := lastRelease(t, "hung")
	o := read(t, dir)
	if err := Conclude(dir, o, pages); err != nil {
		t.Fatal(err)
	}
	o = read(t, dir)
	found := map[string]lab.Answered{}
	for _, h := range o.Experiments[0].Hypotheses {
		found[h.ID] = h
	}
	for id, want := range map[string]struct {
		share float64
		n     int
	}{"hangs_1_13": {0, 4}, "hangs_1_13_two_ps": {1, 2}} {
		m := found[id].Measured
		if m.Median == nil || *m.Median != want.share || m.N != want.n {
			t.Errorf("%s: %+v, want %g of %d that ended", id, found[id], want.share, want.n)
		}
	}
	if s := o.Experiments[0].Stages[0]; s.Run != 6 || s.Invalid != 4 || !s.Complete || s.NotRun != "" {
		t.Errorf("%+v", s)
	}
}

// An unfinished run is completed, as what it is.
func TestLastReleaseGoesOn(t *testing.T) {
	dir := lastRelease(t, "interrupted")
	t.Chdir("/")
	m := &machine{}
	r := planOf(t, m, dir, "contention")
	if p := r.Planned(); p[0].Trials != 3 {
		t.Errorf("%d trials are missing, want 3 of 6", p[0].Trials)
	}
	if err := measure(t, r); err != nil || len(m.ran) != 3 {
		t.Fatalf("%v; %d trials ran", err, len(m.ran))
	}
	c, err := journal.ReadDirectory(filepath.Join(dir, "contention"))
	if err != nil || c.Header.Schema != journal.SchemaV1 || len(c.Trials) != 6 {
		t.Errorf("%v: %+v", err, c)
	}
	if o := read(t, dir); !o.Complete {
		t.Errorf("%+v", o)
	}
}
