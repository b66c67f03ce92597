package page

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// TestFoot: when the prompt is back, both curves, the paths and the answer stand on
// the screen, and the rest above it.
func TestFoot(t *testing.T) {
	files := []string{"results/x/report.html", "results/x/RESULTS.md", "results/x/result.json", "results/x/bench.txt", "results/x/reproduce.sh"}
	for name, r := range map[string]*verdict.Result{"typical": pagetest.Typical(), "shared": pagetest.Shared(), "part": pagetest.Part()} {
		for _, size := range [][2]int{{60, 20}, {80, 24}, {200, 50}} {
			shown := onTerminal(t, r, text.Options{Width: size[0], Height: size[1], Files: files})
			all := strings.Split(strings.TrimRight(shown, "\n"), "\n")
			screen := strings.Join(all[max(0, len(all)-size[1]+1):], "\n")
			for _, want := range []string{"THROUGHPUT", "LATENCY", "│", "results/x/report.html", "reproduce.sh"} {
				if !strings.Contains(screen, want) {
					t.Errorf("%s at %d×%d: no %s on the screen\n%s", name, size[0], size[1], want, screen)
				}
			}
			if strings.Count(shown, "THROUGHPUT") != 1 || strings.Contains(shown, "\n\n\n") {
				t.Errorf("%s at %d×%d: curves twice, or none, or two empty lines\n%s", name, size[0], size[1], shown)
			}
			for _, line := range all {
				if n := utf8.RuneCountInString(line); n > size[0] {
					t.Errorf("%s: %d columns at %d×%d: %s", name, n, size[0], size[1], line)
				}
			}
		}
	}
	pagetest.Golden(t, "terminal.txt", []byte(onTerminal(t, pagetest.Typical(), text.Options{Width: 80, Height: 24, Files: files})))
	// Of several groups it is their answers that stand there.
	shown := onTerminal(t, pagetest.Groups(), text.Options{Width: 80, Height: 24, Files: files})
	all := strings.Split(strings.TrimRight(shown, "\n"), "\n")
	screen := strings.Join(all[len(all)-23:], "\n")
	for _, want := range []string{"Throughput or latency", "Keep the default", "Undecided", "Any value will do", "results/x/report.html", "reproduce.sh"} {
		if !strings.Contains(screen, want) {
			t.Errorf("of several groups no %s on the screen\n%s", want, screen)
		}
	}
	if strings.Count(shown, "  group  ") != strings.Count(onTerminal(t, pagetest.Groups(), text.Options{Width: 80}), "  group  ") {
		t.Errorf("the groups are summed up twice, or not\n%s", shown)
	}
	// Where there is no room for a screen at all, everything is still said.
	if tiny := onTerminal(t, pagetest.Typical(), text.Options{Width: 36, Height: 5, Files: files}); !strings.Contains(tiny, "8.00 ms") || !strings.Contains(tiny, "Set GOMAXPROCS=2") {
		t.Errorf("at 36×5\n%s", tiny)
	}
}
