package page

// View is a Result, ready to be laid out.
type View struct {
	Name     string
	Started  string
	Alert    string // the warnings in one line; empty without
	Progress string // "31 of 48 trials ran …"; empty when all did
	Verdict  Verdict
	Gate     *Gate
	Summary  *Table     // one row a group; nil with a single group
	Overview []Overview // the same in small curves
	Groups   []Group
	Warnings []Warning // of the run as a whole

	Environment []Pair
	Command     string // the program under test, quoted for a shell
	Against     string // the old command of a gate
	Sweep       string // the procfit command line
	Reproduce   string // reproduce.sh
}

// State is how an answer is meant to be read.
type State string

const (
	OK        State = "ok"
	Act       State = "act"       // there is something to do
	Attention State = "attention" // something weakens the result
	Unknown   State = "unknown"
)

// Verdict is a recommendation in words.
type Verdict struct {
	State    State
	Label    string // the kind of verdict, two or three words
	Answer   Answer
	Sentence string
	Reasons  []string
	Settle   []Advice // what would settle a "cannot tell"
	Context  string   // what it was measured on: CPU, quota, Go version, blocks
}

// Advice is what to do, with the command that does it where there is one: a command is
// there to be copied, and so stands apart.
type Advice struct{ Text, Command string }

func (a Advice) String() string {
	if a.Command == "" {
		return a.Text
	}
	return a.Text + ": " + a.Command
}

// Group is one set of comparable settings.
type Group struct {
	ID         string // unique in the View, fit for an anchor
	Title      string
	Verdict    Verdict
	Checklist  []Check
	Mistakes   []Check
	Checked    string // the checklist in one line
	Mistaken   string // the mistakes in one line
	Throughput *Chart // nil where nothing valid was measured
	Latency    *Chart // nil where no latency was measured
	Evidence   []Chart
	Curves     Table  // what the curves show
	Levels     string // what its figures are
	Benchmarks *Benchmarks
	Table      Table
	Metrics    *Table
	Requests   *Table // by request, where there is a mix
	Facts      []Pair
	Warnings   []Warning
	Paste      Paste
}

// Overview is one of several groups at a glance: its answer, and small curves on scales
// that all of them share.
type Overview struct {
	ID     string // of the group
	Title  string // what sets it apart
	State  State
	Answer string
	Charts []Chart
}

// Check is a question of a checklist, answered from the data.
type Check struct {
	Number   int
	Question string
	State    State
	Answer   string // yes, no, cannot tell, or the value asked for
	Detail   string
}

// Warning is something that weakens the result.
type Warning struct {
	Setting string // empty: all settings
	Message string
	Fix     string
}

// Pair is a named value.
type Pair struct{ Name, Value string }

// Benchmarks are the Go benchmarks of a group, each by itself.
type Benchmarks struct {
	Note   string
	Charts []Chart
	Table  Table // a row a benchmark, a column a value of GOMAXPROCS
}

// Table is rows of worded cells. Where its rows have strips, a wide renderer draws these
// after the column of that index, under their heading.
type Table struct {
	Columns    []Column
	Rows       []Row
	StripHead  string
	StripAfter int // 0: the rows have none
}

// Strip is one measured interval on a line of its own, against what is wanted. Positions
// are fractions of the line.
type Strip struct {
	Zone     Span // where it is as wanted
	Present  bool
	At       float64
	Interval Span   // from and to alike: none
	Ticks    []Tick // what else to compare with
	Document *Tick  // the value of a document that it is held against
	Summary  string // the strip in words
}

// Span is a part of a line.
type Span struct{ From, To float64 }

// Column is a heading. Short is for narrow renderers, which leave out a column
// without one, and the details of a column that is not Detailed.
type Column struct {
	Head     string
	Short    string
	Left     bool // text, not numbers
	Detailed bool
}

// Row is a setting's line of a Table; Mark is a word on its standing, if any.
type Row struct {
	Cells []Cell
	Mark  string
	Link  string // the ID of the group that a summary's row is about
	Strip *Strip
}

// Cell is a value with what belongs to it: an interval, a breakdown.
type Cell struct{ Value, Detail string }

// Paste is what to put where.
type Paste struct {
	Lead     string // "nothing: …", or what the snippets do
	Snippets []Snippet
}

// Snippet is text to copy.
type Snippet struct {
	Title string
	Note  string
	Text  string
}

// Gate is the answer of --gate. Its sentence is empty where the View's verdict is
// the gate's.
type Gate struct {
	State    State
	Label    string // passed, not met, or cannot be judged
	Sentence string
	Table    Table
}

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
	Summary    string // the chart in words, for who cannot see it
}

// Tick is a labelled position.
type Tick struct {
	At    float64
	Label string
}

// Category is a setting's place on the horizontal axis.
type Category struct {
	Label   string
	Sub     string // under the label: what "unset" resolved to
	Mark    string // "recommended" and the like; empty on most
	Default bool   // what the program runs with by itself
	Apart   bool   // stands apart from the numbered settings: unset
	Value   string // all series at this setting, in words
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

// Dot is one trial.
type Dot struct {
	At     float64
	Jitter float64 // -1 to 1, fixed by the trial's place in its setting
	Kind   string  // measure, aa, invalid
	Label  string
}
