package cli

import (
	"io"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// BenchmarkReport reads, analyses and renders a journal of 64 settings and 20
// blocks, as procfit report does.
func BenchmarkReport(b *testing.B) {
	var settings []verdicttest.Truth
	for n := range 64 {
		settings = append(settings, verdicttest.Set(n+1, 1000*float64(min(n+1, 8)), 0.01))
	}
	h, trials := verdicttest.Generate(verdicttest.Config{Settings: settings, Blocks: 20})
	dir := b.TempDir()
	d, err := folder.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	w, err := journal.Create(d, h)
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range trials {
		if err := w.Append(t); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if code := Main(b.Context(), []string{"report", dir}, strings.NewReader(""), io.Discard, io.Discard); code != 0 {
			b.Fatalf("exit code %d", code)
		}
	}
}
