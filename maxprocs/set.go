package maxprocs

import "github.com/procfit/procfit/maxprocs/core"

// Option changes what Set does.
type Option = core.Option

// Result is what Set found and did.
type Result = core.Result

// Set makes GOMAXPROCS what fits the program's CPU limits and affinity, by the
// policy Fit, and returns a function that undoes it. It takes the arguments of
// the function of this name of go.uber.org/automaxprocs/maxprocs.
//
// It leaves a valid GOMAXPROCS in the environment in force. Where the value is
// right already it touches nothing, so that a runtime that keeps it up to date
// (Go 1.25 and later) goes on doing so; any other change ends that, and the
// Logger is told. The undo restores that state where the value before was the
// runtime's default, and else the value.
//
// It returns an error when a limit could not be read or made no sense. Then it
// has lowered GOMAXPROCS if what is known demands it, and not raised it.
//
// Package core has the same function for programs in which every byte counts.
func Set(opts ...Option) (undo func(), err error) { return core.Set(opts...) }

// Logger takes the one line that says what Set did and why, in the manner of
// fmt.Printf: log.Printf, say. The default is silence.
func Logger(printf func(format string, args ...any)) Option { return core.Logger(printf) }

// Min is the least GOMAXPROCS that Set chooses; the default is 1.
func Min(n int) Option { return core.Min(n) }

// Max is the greatest GOMAXPROCS that Set chooses, unless Min is above it.
func Max(n int) Option { return core.Max(n) }

// Reserve leaves so many CPUs to others in the same limit, a sidecar say.
func Reserve(cpus float64) Option { return core.Reserve(cpus) }

// Round says what becomes of a part of a CPU; the default is Ceil.
func Round(r Rounding) Option { return core.Round(r) }

// Threshold is the smallest part of a CPU that is rounded up: with 0.5, 2.4
// CPUs are 2 Ps and 2.5 are 3. It goes before Round.
func Threshold(cpus float64) Option { return core.Threshold(cpus) }

// RoundQuotaFunc rounds by a function of your own. It goes before Threshold and
// Round.
func RoundQuotaFunc(round func(cpus float64) int) Option { return core.RoundQuotaFunc(round) }

// Use takes all of Fit's settings at once.
func Use(p Fit) Option { return core.Use(core.Fit(p)) }

// Detail fills r with what Set found and did.
func Detail(r *Result) Option { return core.Detail(r) }
