package maxprocs

import (
	"math"
	"syscall"
	"time"

	"github.com/procfit/procfit/maxprocs/internal/fit"
)

// Rounding says what becomes of a part of a CPU.
type Rounding = fit.Rounding

const (
	Ceil  = fit.Ceil  // the default: part of a CPU is worth a P, or it would never be used
	Floor = fit.Floor // the default of what Reserve leaves, which rounding up would take back
)

// Option changes what Set, Watch and Start do. All take all of them; those that
// say "of Watch" are of Start too, and mean nothing to Set. One that is nil is ignored.
type Option func(*config)

type config struct {
	rule     fit.Rule
	round    func(float64) int
	printf   func(string, ...any)
	detail   *Result
	period   time.Duration
	hold     time.Duration
	onChange func(Result)
	sys      system
}

func configure(opts []Option) config {
	c := config{sys: live(), period: DefaultPeriod, hold: DefaultHold}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// Logger takes one line for each change, and from Set and Start also where nothing
// is changed, which says what was done and why, in the manner of fmt.Printf:
// log.Printf, say. Its one argument is the Result. The default is silence. A logger
// that panics loses its line and does not end the program. For log/slog see package
// slogger.
func Logger(printf func(format string, args ...any)) Option {
	return func(c *config) { c.printf = printf }
}

// Min is the least GOMAXPROCS that is chosen where there is a limit; the default
// is 1, and less is ignored. The affinity alone is no limit.
func Min(n int) Option {
	return func(c *config) {
		if n >= 1 {
			c.rule.Min = n
		}
	}
}

// Max is the greatest GOMAXPROCS that is chosen, unless Min is above it.
func Max(n int) Option { return func(c *config) { c.rule.Max = n } }

// Reserve leaves so many CPUs to others in the same limit, a sidecar say. What is
// left is rounded down, unless Round or Threshold says otherwise: 4 CPUs less 0.5
// are 3 Ps, since a fourth would take the reserve back. What is no number of CPUs,
// such as NaN, an infinity or less than 0, is ignored.
func Reserve(cpus float64) Option {
	return func(c *config) {
		if cpus >= 0 && !math.IsInf(cpus, 1) {
			c.rule.Reserve = cpus
		}
	}
}

// Round says what becomes of a part of a CPU; the default is Ceil, and with
// Reserve it is Floor.
func Round(r Rounding) Option { return func(c *config) { c.rule.Rounding = r } }

// Threshold is the smallest part of a CPU that is rounded up: with 0.5, 2.4
// CPUs are 2 Ps and 2.5 are 3. It goes before Round.
func Threshold(cpus float64) Option { return func(c *config) { c.rule.Threshold = cpus } }

// RoundQuotaFunc rounds a limit by a function of your own, as the option of this
// name of go.uber.org/automaxprocs does. It goes before Threshold and Round, and
// is not asked where the affinity is what counts.
func RoundQuotaFunc(round func(cpus float64) int) Option {
	return func(c *config) { c.round = round }
}

// Detail fills r with what was found and done; Watch does so at each look.
func Detail(r *Result) Option { return func(c *config) { c.detail = r } }

// Period, of Watch, is the time between two looks; the default, and what 0 or
// less means, is DefaultPeriod.
func Period(d time.Duration) Option {
	return func(c *config) {
		if c.period = d; d <= 0 {
			c.period = DefaultPeriod
		}
	}
}

// Hold, of Watch, is how long a lower number must last before it is taken; the
// default is DefaultHold. At 0 it is taken at once.
func Hold(d time.Duration) Option { return func(c *config) { c.hold = d } }

// OnChange, of Watch, is called after each change, by the goroutine that called
// Watch.
func OnChange(told func(Result)) Option { return func(c *config) { c.onChange = told } }

// procs is what fits the tightest limit, which may be 0 for none, and the affinity.
func (c *config) procs(limit float64, affinity int) int {
	limited, cpus := limit > 0, float64(affinity)
	if limited && limit <= cpus {
		cpus = limit
		if c.round != nil {
			return c.rule.Clamp(c.round(c.rule.Left(cpus)), true)
		}
	}
	return c.rule.Procs(cpus, limited)
}

func lookupEnv() (string, bool) { return syscall.Getenv("GOMAXPROCS") }
