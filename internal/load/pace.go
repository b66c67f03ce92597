package load

// The ways in which the requests of an open loop follow one another.
const (
	PaceConstant = "constant" // evenly
	// PacePoisson is as the requests of many independent users come: at random. The
	// measured time has as many of them as of an even pace.
	PacePoisson = "poisson"
)

// maxPoisson bounds the schedule at random, of which each time is kept: 80 MB.
const maxPoisson = 10_000_000

// checkPace looks at the pace of the options.
func (o Options) checkPace() error {
	switch {
	case o.Pace != "" && o.Pace != PaceConstant && o.Pace != PacePoisson:
		return invalid(FieldPace, o.Pace, "want %s or %s", PaceConstant, PacePoisson)
	case o.Pace != PacePoisson:
		return nil
	case o.Rate == 0:
		return invalid(FieldPace, o.Pace, "a closed loop has no pace: it needs a rate")
	case o.Rate*(o.Duration+o.Settle).Seconds() > maxPoisson:
		return invalid(FieldPace, o.Pace, "%.3g requests are more than %d; shorten the duration", o.Rate*(o.Duration+o.Settle).Seconds(), maxPoisson)
	}
	return nil
}
