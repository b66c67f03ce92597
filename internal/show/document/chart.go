package document

import (
	"cmp"
	"strings"

	"github.com/procfit/procfit/internal/show/phrase"
)

// Charts are some that are looked at together. Who cannot draw leaves them out: a table has
// what they show.
type Charts struct {
	Title  Heading // without text: they are under the one before
	Hidden bool    // the title is for readers who cannot see the charts
	Layout Layout  // how much room each has
	List   []Chart
	Beside []Chart // many, in place of a second one
	Key    string  // how to read them
}

// Layout is how charts share the room.
type Layout string

const (
	Curves    Layout = "curves"    // two side by side
	Multiples Layout = "multiples" // many small ones, to be compared
	Evidence  Layout = "evidence"  // a few of different things
	Lines     Layout = "lines"     // a line for each setting
)

// Chart is series over categories. Positions are fractions of the value axis, 0
// at its foot.
type Chart struct {
	Title      string
	Unit       string
	Axis       string // what the categories are; empty: values of GOMAXPROCS
	Note       string // how it was measured, or how to read it
	Log        bool
	Bars       bool   // from zero, side by side; else dots with intervals
	Small      bool   // one of many
	Paired     bool   // its series are of one quantity: side by side, on one axis
	Together   *Chart // the same with a gate's old and new in one place, where a renderer has room
	Ticks      []Tick
	Categories []Category
	Series     []Series
	Reference  *Tick  // a level to compare with
	Summary    string // the chart in words, for readers who cannot see it
}

// Tick is a labelled position.
type Tick struct {
	At    float64
	Label string
}

// Category is a setting's place on the horizontal axis.
type Category struct {
	Label      string
	Sub        string // under the label: what "unset" resolved to
	Mark       string // "recommended" and the like; empty on most
	Default    bool   // what the program runs with by itself
	Apart      bool   // is separate from the numbered settings: unset
	Uncompared string // why it is compared with no other: "not compared"; empty: it is compared
	Estimated  bool   // its marks are estimates
	Value      string // all series at this setting, in words
}

// Name is the label with what is under it.
func (c Category) Name() string {
	return c.Label + phrase.If(c.Sub != "", " ("+c.Sub+")", "")
}

// Series is one quantity over all categories.
type Series struct {
	Name  string
	Marks []Mark // one a category
}

// Mark is a series at one category.
type Mark struct {
	Present   bool
	At        float64
	Interval  bool
	Low, High float64
	Joined    bool // a line leads here from the mark before
	Value     string
	Detail    string // the interval in words
	Dots      []Dot
}

// Text is the value with its interval.
func (m Mark) Text() string {
	if !m.Present {
		return "not measured"
	}
	return phrase.Join(" ", m.Value, m.Detail)
}

// Dot is one trial.
type Dot struct {
	At     float64
	Jitter float64 // -1 to 1, fixed by the trial's place in its setting
	Kind   string  // measure, aa, invalid
	Off    bool    // it has no place on the axis: no value, or one beyond it
	Label  string
}

// Describe puts the chart into words, a setting at a time. Without a metric a single
// series is named too.
func (c *Chart) Describe(metric string) {
	var settings []string
	for i := range c.Categories {
		k := &c.Categories[i]
		var values []string
		for _, s := range c.Series {
			m := s.Marks[i]
			if c.Paired && !m.Present {
				continue // a gate may be of some settings only
			}
			text := m.Text()
			if len(c.Series) > 1 || metric == "" {
				text = s.Name + " " + text
			}
			values = append(values, text)
		}
		k.Value = phrase.Join(", ", append(values, k.Uncompared)...)
		settings = append(settings, phrase.Join(", ", cmp.Or(c.Axis, "GOMAXPROCS")+" "+k.Name()+": "+k.Value, k.Mark))
	}
	c.Summary = strings.Join(settings, "; ")
}

// Timeline is what was seen over time: rows, such as one for each P, in which the same time is in
// one column. Positions are fractions. Only a terminal shows it.
type Timeline struct {
	Ticks    []Tick // of the time
	Lanes    []Lane
	Fillings []Filling
}

// Lane is a row. Where it has no stretch it is empty.
type Lane struct {
	Name      string
	Stretches []Stretch
}

// Stretch is a time in which a lane is filled.
type Stretch struct {
	Span
	Of int // which of the fillings
}

// Filling is what stretches may be of.
type Filling struct {
	Name  string // for the key; empty: it is explained elsewhere
	Sign  rune
	Aside bool // less looked at than the others
}
