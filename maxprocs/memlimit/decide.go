package memlimit

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/maxprocs/facts"
)

// DefaultRatio is the share of the limit that is taken where neither a ratio nor a
// headroom is asked for.
const DefaultRatio = 0.9

// Rule is how a limit becomes a GOMEMLIMIT: the share, less the headroom. The zero
// value is the default.
type Rule struct {
	Ratio    float64 // above 0, at most 1; 0 is DefaultRatio, or 1 where there is a headroom
	Headroom int64   // bytes left to what the Go runtime does not manage
}

// Check tells whether the rule is within its bounds; the error is an ErrOption.
func (r Rule) Check() error {
	switch {
	case !(r.Ratio >= 0 && r.Ratio <= 1):
		return fmt.Errorf("memlimit: %w: a ratio of %v; want one above 0 and at most 1", ErrOption, r.Ratio)
	case r.Headroom < 0:
		return fmt.Errorf("memlimit: %w: a headroom of %d bytes; want 0 or more", ErrOption, r.Headroom)
	}
	return nil
}

func (r Rule) ratio() float64 {
	switch {
	case r.Ratio > 0 && r.Ratio <= 1:
		return r.Ratio
	case r.Headroom > 0:
		return 1
	}
	return DefaultRatio
}

// Standing says what a Decision's number rests on; these are all.
type Standing string

const (
	Limited   Standing = "limited"   // on a memory limit
	Unlimited Standing = "unlimited" // there is none that is known
	NoRoom    Standing = "no_room"   // the headroom leaves nothing of the limit
	ByEnv     Standing = "env"       // the environment says so; never of Decide
	ByDefault Standing = "default"   // the runtime's default; never of Decide
)

// Decision is a GOMEMLIMIT with its reasons. Equal facts and rules give equal
// Decisions.
type Decision struct {
	Standing Standing
	Bytes    int64 // NoLimit unless Limited or ByEnv
	File     string
	Limit    int64    // in bytes, of the file; 0 where there is none
	Reasons  []string // in the order of the steps
	Unknown  []string // what should have counted and could not be read
}

func newDecision(m facts.Memory) Decision {
	d := Decision{Standing: Unlimited, Bytes: NoLimit, Reasons: []string{}, Unknown: m.Unknown()}
	if d.Unknown == nil {
		d.Unknown = []string{}
	}
	return d
}

func (d *Decision) because(format string, args ...any) {
	d.Reasons = append(d.Reasons, fmt.Sprintf(format, args...))
}

// String is the decision for a log line or a terminal, one reason a line.
func (d Decision) String() string {
	return fmt.Sprintf("GOMEMLIMIT=%s\n  %s", Format(d.Bytes), strings.Join(d.Reasons, "\n  "))
}

// Decide says which GOMEMLIMIT fits, whatever the environment asks for. It reads
// nothing and changes nothing. A rule that its Check refuses is taken as if the
// wrong value was not there.
func Decide(m facts.Memory, r Rule) Decision {
	d := newDecision(m)
	for _, l := range m.Limits {
		switch {
		case l.State == facts.Known:
			d.because("%s", describe(l))
		case l.State == facts.Unreadable || l.State == facts.Malformed:
			d.because("a limit is %s and cannot count: %s", l.State, l.Error)
		}
	}
	if s := m.Cgroup.State; s == facts.Unreadable || s == facts.Malformed {
		d.because("its memory limits cannot be found: %s", m.Cgroup.Error)
	}
	l, limited := m.Tightest()
	if !limited {
		d.because("no memory limit is known, so that there is nothing to fit")
		return d
	}
	d.File, d.Limit = l.File, l.Bytes
	if known(m) > 1 {
		d.because("the limit of %s is the tightest", l.File)
	}
	left := int64(math.Floor(float64(l.Bytes) * r.ratio()))
	if r.ratio() < 1 {
		d.because("%s%% of it are %s", strconv.FormatFloat(100*r.ratio(), 'g', 4, 64), Format(left))
	} else {
		left = l.Bytes
	}
	if r.Headroom > 0 {
		d.because("%s of that are left to what is not the Go runtime's: %s − %s", Format(r.Headroom), Format(left), Format(r.Headroom))
		left -= r.Headroom
	}
	if left <= 0 {
		d.Standing = NoRoom
		d.because("nothing is left for the Go runtime")
		return d
	}
	d.Standing, d.Bytes = Limited, left
	return d
}

func known(m facts.Memory) (n int) {
	for _, l := range m.Limits {
		if l.State == facts.Known {
			n++
		}
	}
	return n
}

// describe is a limit in words, with its provenance.
func describe(l facts.MemoryLimit) string {
	does := "limits it to"
	switch l.Kind {
	case facts.MemoryHigh:
		does = "slows it down beyond"
	case facts.MemoryAncestors:
		does = "tells that it and all groups above are limited to"
	}
	return fmt.Sprintf("%s: %q %s %s", l.File, strings.TrimSpace(l.Raw), does, Format(l.Bytes))
}

// Runtime says which GOMEMLIMIT the runtime takes by itself: that of the
// environment, or none. It reads no limit.
func Runtime(m facts.Memory) Decision {
	d := newDecision(m)
	d.Standing, d.Unknown = ByDefault, []string{}
	switch m.Env.State {
	case facts.Known:
	case facts.Unreadable:
		d.because("its environment is unreadable (%s); taken as without GOMEMLIMIT", m.Env.Error)
		d.Unknown = append(d.Unknown, "GOMEMLIMIT in its environment is unreadable: "+m.Env.Error)
		return d
	default:
		d.because("GOMEMLIMIT is not in its environment, and the runtime reads no memory limit")
		return d
	}
	bytes, ok := Parse(m.Env.Raw)
	switch {
	case !ok:
		d.because("GOMEMLIMIT=%q in the environment is malformed: a program that is started with it ends at once", m.Env.Raw)
	case m.Env.Raw == "":
		d.because("GOMEMLIMIT is empty in the environment, which the runtime takes for none")
	default:
		d.Standing, d.Bytes = ByEnv, bytes
		d.because("GOMEMLIMIT=%q is set in the environment", m.Env.Raw)
	}
	return d
}
