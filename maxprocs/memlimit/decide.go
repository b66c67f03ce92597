package memlimit

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/internal/gort"
)

// DefaultRatio is the share of the limit that is used without a ratio and a headroom.
const DefaultRatio = 0.9

// Rule is how a limit becomes a GOMEMLIMIT: the share minus the headroom. The zero value
// is the default.
type Rule struct {
	Ratio    float64 // above 0, at most 1; 0: DefaultRatio, or 1 with a headroom
	Headroom int64   // bytes reserved for what the Go runtime does not manage
}

// Check reports whether the rule is valid; the error is an ErrOption.
func (r Rule) Check() error {
	switch {
	case !(r.Ratio >= 0 && r.Ratio <= 1):
		return r.wrongRatio()
	case r.Headroom < 0:
		return fmt.Errorf("memlimit: %w: a headroom of %d bytes; it must be 0 or more", ErrOption, r.Headroom)
	}
	return nil
}

func (r Rule) wrongRatio() error {
	return fmt.Errorf("memlimit: %w: a ratio of %v; it must be above 0 and at most 1", ErrOption, r.Ratio)
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

// Standing is the source of the number in a Decision.
type Standing string

const (
	Limited   Standing = "limited"   // a memory limit
	Unlimited Standing = "unlimited" // no limit is known
	NoRoom    Standing = "no_room"   // the headroom is the whole limit or more
	ByEnv     Standing = "env"       // the environment; never from Decide
	ByDefault Standing = "default"   // the runtime's default; never from Decide
)

// Decision is a GOMEMLIMIT with its reasons. Equal facts and rules give equal
// Decisions.
type Decision struct {
	Standing Standing
	Bytes    int64 // NoLimit unless Limited or ByEnv
	File     string
	Limit    int64    // in bytes, from the file; 0: none
	Reasons  []string // in the order of the steps
	Unknown  []string // what should have been used but could not be read
}

func newDecision(m facts.Memory) Decision {
	return Decision{Standing: Unlimited, Bytes: NoLimit, Reasons: []string{}, Unknown: append([]string{}, m.Unknown()...)}
}

func (d *Decision) because(format string, args ...any) {
	d.Reasons = append(d.Reasons, fmt.Sprintf(format, args...))
}

// String formats the decision for a log or a terminal, with one reason per line.
func (d Decision) String() string {
	return fmt.Sprintf("GOMEMLIMIT=%s\n  %s", Format(d.Bytes), strings.Join(d.Reasons, "\n  "))
}

// Decide returns the recommended GOMEMLIMIT and ignores the environment. It reads nothing
// and changes nothing. It ignores values of the rule that Check reports as invalid.
func Decide(m facts.Memory, r Rule) Decision {
	d, known := newDecision(m), 0
	for _, l := range m.Limits {
		switch {
		case l.State == facts.Known:
			known++
			d.because("%s", describe(l))
		case l.State == facts.Unreadable || l.State == facts.Malformed:
			d.because("a limit is %s and is not used: %s", l.State, l.Error)
		}
	}
	if s := m.Cgroup.State; s == facts.Unreadable || s == facts.Malformed {
		d.because("its memory limits cannot be found: %s", m.Cgroup.Error)
	}
	l, limited := m.Tightest()
	if !limited {
		d.because("no memory limit is known, so there is nothing to do")
		return d
	}
	d.File, d.Limit = l.File, l.Bytes
	if known > 1 {
		d.because("the limit of %s is the tightest", l.File)
	}
	left := int64(math.Floor(float64(l.Bytes) * r.ratio()))
	if r.ratio() < 1 {
		d.because("%s%% of it is %s", strconv.FormatFloat(100*r.ratio(), 'g', 4, 64), Format(left))
	} else {
		left = l.Bytes
	}
	if r.Headroom > 0 {
		d.because("%s of it is reserved for memory outside the Go runtime: %s − %s", Format(r.Headroom), Format(left), Format(r.Headroom))
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

func describe(l facts.MemoryLimit) string {
	does := "limits it to"
	switch l.Kind {
	case facts.MemoryHigh:
		does = "slows it down above"
	case facts.MemoryAncestors:
		does = "limits it and its parent cgroups to"
	}
	return fmt.Sprintf("%s: %q %s %s", l.File, strings.TrimSpace(l.Raw), does, Format(l.Bytes))
}

// Runtime returns the GOMEMLIMIT that the runtime uses by itself: that of the
// environment, or none. It reads no limit.
func Runtime(m facts.Memory) Decision {
	d := newDecision(m)
	d.Standing, d.Unknown = ByDefault, []string{}
	bytes, ok := Parse(m.Env.Raw)
	switch {
	case m.Env.State == facts.Unreadable:
		d.because("its environment is unreadable (%s); assumed to have no GOMEMLIMIT", m.Env.Error)
		d.Unknown = append(d.Unknown, "GOMEMLIMIT in its environment is unreadable: "+m.Env.Error)
	case m.Env.State != facts.Known:
		d.because("GOMEMLIMIT is not in its environment, and the runtime does not read memory limits")
	case !ok:
		d.because("GOMEMLIMIT=%q in the environment is malformed: a program crashes at start with it", m.Env.Raw)
	case m.Env.Raw == "":
		d.because("GOMEMLIMIT is empty in the environment, which the runtime ignores")
	default:
		d.Standing, d.Bytes = ByEnv, bytes
		d.because("GOMEMLIMIT=%q is set in the environment", m.Env.Raw)
	}
	return d
}

// NoLimit is the value of GOMEMLIMIT that limits nothing. It is the runtime's default.
const NoLimit = math.MaxInt64

// Parse parses a value of GOMEMLIMIT as the runtime does: bytes, with the unit B, KiB,
// MiB, GiB or TiB or none. "off" and the empty string are NoLimit. A program crashes at
// start with any other value. Source: runtime.readGOMEMLIMIT and parseByteCount, the same
// since Go 1.19, except that a plus sign is allowed from Go 1.26 on.
func Parse(value string) (bytes int64, ok bool) {
	if value == "" || value == "off" {
		return NoLimit, true
	}
	digits, unit := value, int64(1)
	for i, suffix := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if cut, found := strings.CutSuffix(value, suffix); found {
			digits, unit = cut, 1<<(10*(i+1))
		}
	}
	if unit == 1 {
		digits = strings.TrimSuffix(value, "B")
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit || digits[0] == '+' && !gort.PlusCounts {
		return 0, false
	}
	return n * unit, true
}

// Format writes bytes in the form of GOMEMLIMIT, in the largest unit that they are a
// multiple of, or that leaves four digits, rounded down: 1932735283 is 1843MiB. NoLimit is
// off.
func Format(bytes int64) string {
	if bytes == NoLimit {
		return "off"
	}
	unit := ""
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if bytes < 1000<<10 && (bytes == 0 || bytes%1024 != 0) {
			break
		}
		bytes, unit = bytes>>10, next
	}
	return strconv.FormatInt(bytes, 10) + unit
}
