package terminal

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// screen is a terminal as far as a Region uses one.
type screen struct {
	width int
	rows  []string
	y, x  int
}

var sequence = regexp.MustCompile(`^\x1b\[(\d*)([AKJ])`)

func (s *screen) write(t *testing.T, text string) {
	t.Helper()
	for text != "" {
		if m := sequence.FindStringSubmatch(text); m != nil {
			s.obey(m[1], m[2])
			text = text[len(m[0]):]
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		switch r {
		case '\r':
			s.x = 0
		case '\n':
			s.x, s.y = 0, s.y+1
		case '\x1b':
			t.Fatalf("an unknown sequence before %q", text)
		default:
			if s.x == s.width {
				t.Fatalf("a line wraps at %d: %q", s.width, s.rows)
			}
			s.put(r)
		}
	}
}

func (s *screen) obey(n, what string) {
	switch what {
	case "A":
		by, _ := strconv.Atoi(n)
		s.y -= max(1, by)
	case "J":
		s.rows = s.rows[:min(len(s.rows), s.y+1)]
		fallthrough
	case "K":
		if s.y < len(s.rows) {
			row := []rune(s.rows[s.y])
			s.rows[s.y] = string(row[:min(len(row), s.x)])
		}
	}
}

func (s *screen) put(r rune) {
	for len(s.rows) <= s.y {
		s.rows = append(s.rows, "")
	}
	row := []rune(s.rows[s.y])
	for len(row) <= s.x {
		row = append(row, ' ')
	}
	row[s.x] = r
	s.rows[s.y], s.x = string(row), s.x+1
}

// TestRegion: what is drawn again replaces what stood there, and what is printed
// above stays.
func TestRegion(t *testing.T) {
	var out bytes.Buffer
	r, s := Region{Out: &out}, screen{width: 20}
	draw := func(above, lines []string, want ...string) {
		t.Helper()
		must.OK(t, r.Draw(above, lines, s.width))
		s.write(t, out.String())
		out.Reset()
		if !slices.Equal(s.rows, want) {
			t.Errorf("%q, want %q", s.rows, want)
		}
	}
	draw(nil, []string{"one", "two"}, "one", "two")
	draw(nil, []string{"three", "2", "four"}, "three", "2", "four")
	draw([]string{"above"}, []string{"five"}, "above", "five")
	draw([]string{"more", "lines"}, []string{strings.Repeat("long ", 8), "end"}, "above", "more", "lines", "long long long lon…", "end")
	draw(nil, nil, "above", "more", "lines", "")

	// One that has become narrower has broken the lines: three of 19, 19 and 3
	// columns take five rows.
	r.drawn = []int{19, 19, 3}
	if home := r.home(10); home != "\r\x1b[4A" {
		t.Errorf("%q", home)
	}
}
