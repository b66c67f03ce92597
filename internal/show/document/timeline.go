package document

// Timeline is what was seen over time: curves, and lanes in which the same time is filled
// more or less. All share the time's axis, so that what happens at one time is in one
// column. Positions are fractions, in time and of a value axis.
type Timeline struct {
	Ticks  []Tick // of the time
	Charts []Course
	Lanes  *Lanes // nil: there are none
	Key    string // how to read them
}

// Course is one or two quantities over time.
type Course struct {
	Title     string
	Note      string
	Ticks     []Tick
	Reference *Tick // a level to compare with
	Curves    []Curve
}

// Curve is one quantity.
type Curve struct {
	Name           string // within its chart
	Alone          string // where it stands without it
	Min, Mean, Max string
	Top            float64 // where its highest point is
	Points         []Point
}

// Point is the quantity in a stretch of time; Low and High are its extremes there.
type Point struct {
	Span
	Present         bool
	Low, Mean, High float64
	Value           string // with its time
}

// Lanes are rows of time, such as one for each P.
type Lanes struct {
	Title    string
	Note     string
	Summary  string // the lanes in words
	List     []Lane
	Fillings []Filling // none: all stretches are of one kind
	Arrows   []Arrow
}

// Distinct is how many fillings have a colour of their own, those aside not counted.
const Distinct = 18

// Filling is what stretches may be of. Who cannot draw writes its sign.
type Filling struct {
	Name  string // for the key; empty: it is explained elsewhere
	Sign  rune
	Aside bool // less looked at than the others
}

// Lane is one of them. Where it has no stretch it is empty.
type Lane struct {
	Name      string
	Note      string // less than the name
	Stretches []Stretch
}

// Stretch is a time in which a lane is filled, by a weight from 0 to 1.
type Stretch struct {
	Span
	Weight float64
	Of     int    // which of the fillings
	Label  string // written into it where there is room
	Value  string // in words, with its time
}

// Arrow leads from a lane to another, at a time.
type Arrow struct {
	From, To int
	At       float64
	Doubtful bool
	Value    string // in words, with its time
}

// Table is the numbers of the curves, for readers who cannot draw.
func (t Timeline) Table() Table {
	out := Table{Columns: []Column{{Left: true}, {Head: "min"}, {Head: "mean"}, {Head: "max"}}}
	for _, c := range t.Charts {
		for _, k := range c.Curves {
			out.Rows = append(out.Rows, Row{Cells: []Cell{{Value: k.Alone}, {Value: k.Min}, {Value: k.Mean}, {Value: k.Max}}})
		}
	}
	return out
}

// Kind is the name of the block.
func (Timeline) Kind() string { return "timeline" }
