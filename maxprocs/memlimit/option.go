package memlimit

import (
	"runtime/debug"
	"time"

	"github.com/procfit/procfit/maxprocs/facts"
)

// Option changes what Set, Watch and Start do. All of them accept all options; those
// described as "for Watch" also apply to Start and have no effect on Set. A nil Option is
// ignored.
type Option func(*config)

type config struct {
	rule     Rule
	zero     bool // the ratio was set to 0, which is not valid, and not left out
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

func live() system {
	return system{read: facts.ReadMemory, changed: facts.Memory.Changed, limit: debug.SetMemoryLimit}
}

// Ratio is the share of the limit to use, above 0 and at most 1. The default is
// DefaultRatio, or 1 with Headroom.
func Ratio(share float64) Option {
	return func(c *config) { c.rule.Ratio, c.zero = share, share == 0 }
}

// Headroom reserves bytes for what the Go runtime does not manage: memory of C libraries,
// mapped files, other processes under the same limit. It replaces the default ratio; if
// Ratio is set too, both apply.
func Headroom(bytes int64) Option { return func(c *config) { c.rule.Headroom = bytes } }

// Logger sets a function such as log.Printf, which gets one line for each change, with
// what was done and why. Set and Start also log if they change nothing, and Watch if the
// environment decides, or for another error than before. By default nothing is logged. A
// logger that panics loses its line, but does not end the program.
func Logger(printf func(format string, args ...any)) Option {
	return func(c *config) { c.printf = printf }
}

// Detail fills r with what was found and done: Set and Start before they return, Watch each
// time it decides.
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

// Hold, for Watch, is how long a higher value must last before it is used. The default is
// DefaultHold; 0 means immediately.
func Hold(d time.Duration) Option { return func(c *config) { c.hold = d } }

// OnChange, for Watch, is called after each change, in the goroutine that called Watch.
// Start calls it for later changes in the goroutine that it has started.
func OnChange(f func(Result)) Option { return func(c *config) { c.onChange = f } }
