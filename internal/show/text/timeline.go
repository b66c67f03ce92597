package text

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/terminal"
)

// nobody is the sign of a lane that is empty there.
const nobody = '·'

// colors are given to the fillings in turn: the terminal's own six.
var colors = []string{terminal.Cyan, terminal.Yellow, terminal.Green, "35", "34", terminal.Red}

// timeline has in each column of its lanes the sign of what fills them longest there.
func (w *writer) timeline(t document.Timeline) {
	label := 0
	for _, l := range t.Lanes {
		label = max(label, utf8.RuneCountInString(l.Name))
	}
	indent := label + 3
	wide := w.Width - indent
	seen := make([]bool, len(t.Fillings))
	for _, l := range t.Lanes {
		cells := slices.Repeat([]terminal.Cell{{Rune: nobody, Style: terminal.Dim}}, wide)
		longest := make([]float64, wide)
		of := make([]int, wide)
		for _, s := range l.Stretches {
			from, to := s.From*float64(wide), s.To*float64(wide)
			for x := min(int(from), wide-1); x <= min(int(to), wide-1); x++ {
				if part := min(to, float64(x+1)) - max(from, float64(x)); part > longest[x] {
					longest[x], of[x], cells[x] = part, s.Of, filling(t.Fillings[s.Of], s.Of)
				}
			}
		}
		for x, part := range longest {
			seen[of[x]] = seen[of[x]] || part > 0
		}
		w.Line("  " + terminal.Pad(l.Name, label, true) + " " + w.Cells(cells))
	}
	w.axis(t.Ticks, indent-1, wide)
	legend := string(nobody) + " none"
	for i, f := range t.Fillings {
		if seen[i] && f.Name != "" {
			legend += "   " + string(f.Sign) + " " + f.Name
		}
	}
	w.Line(w.Style(terminal.Dim, strings.Repeat(" ", indent)+legend))
}

func filling(f document.Filling, i int) terminal.Cell {
	if f.Aside {
		return terminal.Cell{Rune: f.Sign, Style: terminal.Dim}
	}
	return terminal.Cell{Rune: f.Sign, Style: colors[i%len(colors)]}
}

func (w *writer) axis(ticks []document.Tick, indent, wide int) {
	line := []rune("└" + strings.Repeat("─", wide))
	text := []rune(strings.Repeat(" ", wide+indent+12))
	free := 0 // labels never touch
	for _, t := range ticks {
		x := column(t.At, wide)
		line[1+x] = '┴'
		label := []rune(t.Label)
		from := max(0, indent+1+x-len(label)/2)
		if from < free {
			continue
		}
		copy(text[from:], label)
		free = from + len(label) + 1
	}
	w.Line(w.Style(terminal.Dim, strings.Repeat(" ", indent)+string(line)))
	w.Line(w.Style(terminal.Dim, strings.TrimRight(string(text), " ")))
}
