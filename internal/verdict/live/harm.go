package live

// Sight is what one look at the meter saw: the differences since the look before it.
type Sight struct {
	Seconds             float64
	Ended, Failed, Slow uint64  // requests
	Sojourn             float64 // seconds from arrival, of all that ended, together
	InFlight            uint64  // at the end of the look, between the start of their handler and its end
}

// Wire trips where requests pile up. A copy of it is for one visit of a value.
type Wire struct {
	Most float64 // that were in the system in a look of the baseline
}

// NewWire freezes the limit by the baseline's looks: learned from later slices, it would take
// for usual what a bad value leaves behind.
func NewWire(baseline []Sight) Wire { return Wire{} }

// Look reports that the value must be left now.
func (w *Wire) Look(s Sight) bool { return false }

// Drained reports that what a value left behind has ended.
func (w Wire) Drained(s Sight) bool { return true }

// Budget is how many slow and failed requests the values may cost, beyond what the start
// value would have had.
type Budget struct{ Total float64 }

// NewBudget takes the start value's share from the baseline's looks.
func NewBudget(total float64, baseline []Sight) *Budget { return &Budget{Total: total} }

// Start adds a look at the start value, after what others left behind has drained.
func (b *Budget) Start(s Sight) {}

// Visit begins a visit of a value. False: what is left does not suffice for one, and the
// experiment ends.
func (b *Budget) Visit(procs int) bool { return true }

// Look adds a look at the value, and reports that it must be left now.
func (b *Budget) Look(s Sight) bool { return false }

// Drain adds a look after the value was left.
func (b *Budget) Drain(s Sight) {}

// Spent is how many there were beyond the start value's share, of all values together.
func (b *Budget) Spent() float64 { return 0 }
