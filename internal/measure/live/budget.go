package live

const (
	// aVisit is the share of the budget at which a visit of a value ends.
	aVisit = 0.25
	// aStandstill is what a visit may cost in which a value carries nothing, in seconds of
	// requests: until two looks have seen it, and until what waits has drained.
	aStandstill = 1.5
)

// budget is how many slow and failed requests the values may cost, beyond what the start
// value would have had. What one value saves is no other's to spend.
type budget struct {
	Total float64
	wire  wire
	// Of the start value, with the baseline.
	ended, harmed float64
	share         float64         // of its requests, before this visit
	cost          map[int]float64 // by value, beyond the start value's share
	value         int             // that is visited, or drains; 0: the start value
	visit         float64         // what that visit costs
	dearest       float64         // of all visits of the others
}

// newBudget takes the start value's share from the baseline's looks.
func newBudget(total float64, baseline []sight) *budget {
	b := &budget{Total: total, wire: newWire(baseline), cost: map[int]float64{}}
	for _, s := range baseline {
		b.Start(s)
	}
	return b
}

// Start adds a look at the start value to its share, after what others left behind has drained.
func (b *budget) Start(s sight) {
	b.ended += float64(s.Ended)
	b.harmed += float64(s.Slow + s.Failed)
}

// Visit begins a visit of a value, the n-th of Rules.Values. False: it might cost more than
// is left, and the experiment ends. The start value spends nothing.
func (b *budget) Visit(value int) bool {
	if b.value > 0 {
		b.dearest = max(b.dearest, b.visit)
	}
	if b.value, b.visit = value, 0; b.ended > 0 {
		b.share = b.harmed / b.ended
	}
	return value == 0 || b.Spent()+b.Reserve() <= b.Total
}

// Reserve is what is kept for one more visit. A budget that is less allows none.
func (b *budget) Reserve() float64 {
	return max(b.dearest, aVisit*b.Total, aStandstill*b.wire.rate)
}

// Look adds a look at the value, and reports that it must be left now, or would be if it were not
// the start value. What waits beyond the usual will be slow, and so will what arrives while it
// drains: both count already.
func (b *budget) Look(s sight) bool {
	b.Add(s)
	return b.visit+2*max(0, b.wire.InSystem(s)-b.wire.Most) > aVisit*b.Total
}

// Add adds a look at the value, or after it was left: it is charged for what it left behind.
func (b *budget) Add(s sight) {
	more := float64(s.Slow+s.Failed) - b.share*float64(s.Ended)
	b.visit += more
	if b.value > 0 {
		b.cost[b.value] += more
	}
}

// Spent is how many there were beyond the start value's share, of all values together.
func (b *budget) Spent() (sum float64) {
	for _, cost := range b.cost {
		sum += max(0, cost)
	}
	return sum
}
