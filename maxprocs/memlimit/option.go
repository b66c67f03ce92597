package memlimit

import (
	"runtime/debug"

	"github.com/procfit/procfit/maxprocs/facts"
)

// Option changes what Set does. One that is nil is ignored.
type Option func(*config)

type config struct {
	rule   Rule
	printf func(string, ...any)
	detail *Result
	sys    system
}

// Ratio is the share of the limit that is taken, above 0 and at most 1. The
// default is DefaultRatio, or 1 with Headroom.
func Ratio(share float64) Option {
	return func(c *config) {
		if c.rule.Ratio = share; share == 0 {
			c.rule.Ratio = -1 // that was asked for, and is out of bounds
		}
	}
}

// Headroom leaves so many bytes to what the Go runtime does not manage: memory of
// C libraries, mapped files, other processes in the same limit. It takes the place
// of the default ratio; with Ratio, both count.
func Headroom(bytes int64) Option { return func(c *config) { c.rule.Headroom = bytes } }

// Logger takes one line that says what was done and why, in the manner of
// fmt.Printf: log.Printf, say. The default is silence. A logger that panics loses its
// line and does not end the program.
func Logger(printf func(format string, args ...any)) Option {
	return func(c *config) { c.printf = printf }
}

// Detail fills r with what was found and done.
func Detail(r *Result) Option { return func(c *config) { c.detail = r } }

func configure(opts []Option) config {
	c := config{sys: live()}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

func live() system { return system{read: facts.ReadMemory, limit: debug.SetMemoryLimit} }
