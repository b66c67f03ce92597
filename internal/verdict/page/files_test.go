package page_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/must"
)

func TestWritesEveryFormAndAlwaysTheSame(t *testing.T) {
	dir := t.TempDir()
	var first map[string][]byte
	for range 2 {
		paths, err := page.Write(dir, pagetest.Hostile())
		must.OK(t, err)
		now := map[string][]byte{}
		for _, p := range paths {
			if now[p], err = os.ReadFile(p); err != nil {
				t.Fatal(err)
			}
		}
		if first == nil {
			first = now
		}
		for p := range first {
			if !bytes.Equal(first[p], now[p]) {
				t.Errorf("%s differs the second time", p)
			}
		}
	}
	entries := must.Get(os.ReadDir(dir))(t)
	if len(entries) != len(first) || len(first) != 5 {
		t.Errorf("%d files in the directory, %d named, want 5: %v", len(entries), len(first), entries)
	}
	for name, mode := range map[string]os.FileMode{"report.html": 0o644, "reproduce.sh": 0o755} {
		info := must.Get(os.Stat(filepath.Join(dir, name)))(t)
		if info.Mode() != mode {
			t.Errorf("%s has mode %o, want %o", name, info.Mode(), mode)
		}
	}
}

func TestAFailureNamesTheFileAndLeavesNothing(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := page.Write(missing, pagetest.Typical()); err == nil || !strings.Contains(err.Error(), filepath.Join(missing, "report.html")) {
		t.Errorf("error %v, want one that names the file", err)
	}
	dir := t.TempDir()
	must.OK(t, os.Mkdir(filepath.Join(dir, "RESULTS.md"), 0o755))
	if _, err := page.Write(dir, pagetest.Typical()); err == nil {
		t.Error("a directory in the place of RESULTS.md was no error")
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// The best of three, and a bound that is some hundred times the CPU time it
// takes: a guard against a quadratic step, on a busy machine under -race. The
// benchmark measures.
func TestTheLargestResultRendersSoon(t *testing.T) {
	dir, r := t.TempDir(), pagetest.Large(64, 20)
	best := time.Duration(math.MaxInt64)
	for range 3 {
		start := time.Now()
		must.Get(page.Write(dir, r))(t)
		best = min(best, time.Since(start))
	}
	if best > 3*time.Second {
		t.Errorf("64 settings of 20 blocks took %v", best)
	}
}

func BenchmarkRender64Settings20Blocks(b *testing.B) {
	dir, r := b.TempDir(), pagetest.Large(64, 20)
	var out bytes.Buffer
	for b.Loop() {
		must.Get(page.Write(dir, r))(b)
		out.Reset()
		must.OK(b, text.Render(&out, page.Brief(r), text.Options{Width: 80}))
	}
}
