package watch

import "github.com/procfit/procfit/internal/program/rule"

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

func (l look) either(utf8, ascii string) string {
	if l.ascii {
		return ascii
	}
	return utf8
}

func (l look) more() string    { return l.either("…", "~") }
func (l look) pointer() string { return l.either("▸", ">") }
func (l look) fix() string     { return l.either("→ ", "-> ") }
func (l look) dot() string     { return l.either(" · ", " | ") }
func (l look) down() string    { return l.either("▼", "v") }
func (l look) up() string      { return l.either("▲", "^") }
func (l look) arrows() string  { return l.either("↑↓", "j/k") }

// bars are eight heights of a cell; an empty cell means no value.
func (l look) bars() []rune {
	if l.ascii {
		return []rune("_.,-=+*#")
	}
	return []rune("▁▂▃▄▅▆▇█")
}
