package terminal

import "testing"

func TestWriter(t *testing.T) {
	w := NewWriter(0, false)
	w.Gap()
	w.Paragraph("! ", "  ", "one two")
	w.Gap()
	w.Gap()
	w.Width = 8
	w.Wrap("- ", "  ", "three four five sixteen", Bold)
	w.Line(w.Style(Dim, "end") + "   ")
	if got, want := w.String(), "\n! one two\n\n- three\n  four\n  five\n  sixteen\nend\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for width, want := range map[int]int{0: 80, 1: minWidth, 90: 90, 500: maxWidth} {
		if got := NewWriter(width, true).Width; got != want {
			t.Errorf("width %d becomes %d, want %d", width, got, want)
		}
	}
}

func TestStyle(t *testing.T) {
	w := NewWriter(80, true)
	if got := w.Cells([]Cell{{'a', Cyan}, {'b', Cyan}, {'c', ""}, {'d', Dim}}); got != "\x1b[36mab\x1b[0mc\x1b[2md\x1b[0m" {
		t.Errorf("%q", got)
	}
	if got := w.Style("", "x") + w.Style(Bold, ""); got != "x" {
		t.Errorf("%q", got)
	}
	if got := Pad("é", 3, true) + Pad("é", 3, false) + Pad("long", 2, true); got != "é    élong" {
		t.Errorf("%q", got)
	}
}

func TestFolded(t *testing.T) {
	for _, c := range []struct {
		width      int
		line, want string
	}{
		{0, "one two three four five six seven", "one two three four five six seven\n"},
		{24, "one two three four five six seven", "one two three four five\n  six seven\n"},
		{24, "short", "short\n"},
		{10, "too narrow to fold it", "too narrow to fold it\n"},
		{24, "日本語 日本語 日本語 日本語 日本語", "日本語 日本語 日本語\n  日本語 日本語\n"},
	} {
		w := &Writer{Width: c.width}
		if w.Folded(c.line, "  "); w.String() != c.want {
			t.Errorf("at %d: %q, want %q", c.width, w.String(), c.want)
		}
	}
}
