package maxprocs

import (
	"math"
	"time"

	"github.com/procfit/procfit/maxprocs/internal/fit"
)

// Rounding is how a fraction of a CPU is rounded.
type Rounding = fit.Rounding

const (
	Ceil  = fit.Ceil  // the default: otherwise a fraction of a CPU would never be used
	Floor = fit.Floor // the default with Reserve, because rounding up would use the reserve
)

// Option changes what Set, Watch and Start do. All of them accept all options; those
// described as "for Watch" also apply to Start and have no effect on Set. A nil Option is
// ignored.
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

// Logger sets a function such as log.Printf, which gets one line for each change, with
// what was done and why. Set and Start also log if they change nothing, and Watch if the
// environment decides or something else than before cannot be read. The only argument is
// the Result. By default nothing is logged. A logger that panics loses its line, but does
// not end the program. For log/slog see package slogger.
func Logger(printf func(format string, args ...any)) Option {
	return func(c *config) { c.printf = printf }
}

// Min is the lowest GOMAXPROCS to choose under a limit. The default is 1, and lower
// values are ignored. The affinity alone is not a limit.
func Min(n int) Option {
	return func(c *config) {
		if n >= 1 {
			c.rule.Min = n
		}
	}
}

// Max is the highest GOMAXPROCS to choose, unless Min is higher.
func Max(n int) Option { return func(c *config) { c.rule.Max = n } }

// Reserve keeps CPUs for others under the same limit, such as a sidecar. The rest is
// rounded down, unless Round or Threshold is set: 4 CPUs minus 0.5 give GOMAXPROCS=3,
// since 4 would use the reserve. Values that are not a number of CPUs, such as NaN,
// infinity or negative numbers, are ignored.
func Reserve(cpus float64) Option {
	return func(c *config) {
		if cpus >= 0 && !math.IsInf(cpus, 1) {
			c.rule.Reserve = cpus
		}
	}
}

// Round sets how a fraction of a CPU is rounded. The default is Ceil, or Floor with
// Reserve.
func Round(r Rounding) Option { return func(c *config) { c.rule.Rounding = r } }

// Threshold is the smallest fraction of a CPU that is rounded up: with 0.5, 2.4 CPUs give
// 2 and 2.5 CPUs give 3. It overrides Round.
func Threshold(cpus float64) Option { return func(c *config) { c.rule.Threshold = cpus } }

// RoundQuotaFunc rounds a limit with your own function, like the option of the same name
// in go.uber.org/automaxprocs. It overrides Threshold and Round. It is not called if the
// affinity decides.
func RoundQuotaFunc(round func(cpus float64) int) Option {
	return func(c *config) { c.round = round }
}

// Detail fills r with what was found and done: Set and Start before they return, Watch each
// time it checks.
func Detail(r *Result) Option { return func(c *config) { c.detail = r } }

// Period, for Watch, is the time between two checks. The default is DefaultPeriod, also
// for values of 0 or less.
func Period(d time.Duration) Option {
	return func(c *config) {
		if c.period = d; d <= 0 {
			c.period = DefaultPeriod
		}
	}
}

// Hold, for Watch, is how long a lower value must last before it is used. The default is
// DefaultHold; 0 means immediately.
func Hold(d time.Duration) Option { return func(c *config) { c.hold = d } }

// OnChange, for Watch, is called after each change, in the goroutine that called Watch.
// Start calls it for later changes in the goroutine that it has started.
func OnChange(f func(Result)) Option { return func(c *config) { c.onChange = f } }

// procs is the value for the tightest limit, which is 0 if there is none, and the
// affinity.
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
