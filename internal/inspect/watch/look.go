package watch

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
)

// look is what the terminal can draw.
type look struct {
	color bool
	ascii bool // only ASCII
}

// style is the parameters of an SGR sequence. The colors are the sixteen of the user's
// theme.
type style string

const (
	bold     style = "1"
	faint    style = "2"
	reverse  style = "7"
	red      style = "1;31"
	yellow   style = "33"
	cyan     style = "36"
	heading  style = "30;42" // of the table
	selected style = "30;46"
	alarm    style = "1;37;41"
)

// plainly replaces colors on a terminal without them.
var plainly = map[style]style{red: bold, yellow: "", cyan: "", heading: "1;4", selected: reverse, alarm: reverse}

func (l look) paint(s style, text string) string {
	if p, ok := plainly[s]; ok && !l.color {
		s = p
	}
	if s == "" || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

func (l look) severity(s rule.Severity) style {
	switch s {
	case rule.Error:
		return red
	case rule.Warning:
		return yellow
	case rule.Info:
		return cyan
	}
	return ""
}

func (l look) more() string    { return phrase.If(l.ascii, "~", "…") }
func (l look) pointer() string { return phrase.If(l.ascii, ">", "▸") }
func (l look) fix() string     { return phrase.If(l.ascii, "-> ", "→ ") }
func (l look) dot() string     { return phrase.If(l.ascii, " | ", " · ") }
func (l look) down() string    { return phrase.If(l.ascii, "v", "▼") }
func (l look) up() string      { return phrase.If(l.ascii, "^", "▲") }
func (l look) arrows() string  { return phrase.If(l.ascii, "j/k", "↑↓") }

// bars are eight heights of a cell; an empty cell means no value.
func (l look) bars() []rune {
	return []rune(phrase.If(l.ascii, "_.,-=+*#", "▁▂▃▄▅▆▇█"))
}

// maxText is how much of one text from outside is used, in bytes.
const maxText = 16 << 10

// clean makes text from outside safe to draw on one line: white space becomes a space,
// and characters that do not print, that change the direction of writing or that are not
// UTF-8 become escapes. Terminals count columns by character or by grapheme; if the two
// disagree, everything but ASCII becomes an escape.
func (l look) clean(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	if plain(s) {
		return s
	}
	out := escape(s, func(r rune) bool { return !rightToLeft(r) && !joins(r) && !l.ascii })
	if beside := " " + out + "0"; ansi.StringWidth(beside) != ansi.StringWidthWc(beside) {
		out = escape(s, func(rune) bool { return false })
	}
	return out
}

// text is the text of a column in characters that the terminal can draw.
func (l look) text(s string) string {
	if l.ascii {
		s = strings.NewReplacer("→", "->", "…", l.more(), "µ", "u").Replace(s)
	}
	return l.clean(s)
}

// name makes a name visible. The kernel has no longer names.
func (l look) name(s string) string {
	const longest = 255 // NAME_MAX, include/uapi/linux/limits.h
	if s = l.clean(s[:min(len(s), longest)]); strings.TrimSpace(s) == "" {
		return `"` + s + `"`
	}
	return s
}

func plain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// escape writes characters that do not print, or are not ASCII and not kept, as \u.
func escape(s string, keep func(rune) bool) string {
	var b strings.Builder
	for _, r := range phrase.Clean(s) {
		if r < utf8.RuneSelf || keep(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// rightToLeft reports letters next to which some terminals draw the digits of the next
// column in another place. The blocks are those that default to this
// direction in the Unicode database, DerivedBidiClass.txt.
func rightToLeft(r rune) bool {
	return r >= 0x590 && r <= 0x8ff || r >= 0xfb1d && r <= 0xfdff || r >= 0xfe70 && r <= 0xfeff ||
		r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
}

// joins reports characters that change the width of their neighbour: the letters of
// flags, and variation selectors.
func joins(r rune) bool {
	return r >= 0x1f1e6 && r <= 0x1f1ff || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef
}

// clip shortens drawn text to a width and marks it.
func (l look) clip(s string, width int) string {
	if cells(s) <= width {
		return s
	}
	return ansi.Truncate(s, width, l.more())
}

func (l look) clipLeft(s string, width int) string {
	if n := cells(s); n > width {
		return ansi.TruncateLeft(s, n-width+cells(l.more()), l.more())
	}
	return s
}

// cells is the width of drawn text, in columns of the terminal.
func cells(s string) int {
	if plain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// pad makes drawn text exactly this wide.
func (l look) pad(s string, width int, right bool) string {
	s = l.clip(s, width)
	fill := strings.Repeat(" ", max(0, width-cells(s)))
	if right {
		return fill + s
	}
	return s + fill
}

// bar is a heading over the whole width.
func (m *model) bar(text string) string { return m.paint(heading, m.pad(text, m.width, false)) }

// sides puts one text at the left of a line and one at the right, and shortens the left
// one if necessary.
func (l look) sides(left, right string, width int) string {
	right = l.clip(right, width)
	room := width - cells(right)
	if room < 8 {
		return l.pad(left, width, false)
	}
	return l.pad(left, room-1, false) + " " + right
}

// wrap breaks clean text into lines of this width. Later lines have the indent of the
// first, plus more.
func (l look) wrap(s string, width, more int) []string {
	text := strings.TrimLeft(s, " ")
	indent := len(s) - len(text)
	if indent+more > width/2 {
		indent, more = min(indent, 1), 0
	}
	room := width - indent - more
	if room < 1 {
		return []string{l.clip(s, width)}
	}
	var lines []string
	for i, part := range strings.Split(ansi.Wrap(text, room, ""), "\n") {
		if i > 0 {
			part = strings.Repeat(" ", more) + strings.TrimLeft(part, " ")
		}
		lines = append(lines, l.clip(strings.Repeat(" ", indent)+part, width))
	}
	return lines
}

// cut shortens lines to a number of them and marks it.
func (l look) cut(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	last := lines[most-1]
	if n := cells(last); n > 1 {
		last = ansi.Truncate(last, n-1, "")
	}
	return append(lines[:most-1:most-1], last+l.more())
}
