package core

// Option changes what Set does.
type Option func(*config)

type config struct {
	fit    Fit
	round  func(float64) int
	printf func(string, ...any)
	detail *Result
	sys    system
}

// Logger takes the one line that says what Set did and why, in the manner of
// fmt.Printf: log.Printf, say. The default is silence.
func Logger(printf func(format string, args ...any)) Option {
	return func(c *config) { c.printf = printf }
}

// Min is the least GOMAXPROCS that Set chooses; the default is 1.
func Min(n int) Option { return func(c *config) { c.fit.Min = n } }

// Max is the greatest GOMAXPROCS that Set chooses, unless Min is above it.
func Max(n int) Option { return func(c *config) { c.fit.Max = n } }

// Reserve leaves so many CPUs to others in the same limit, a sidecar say.
func Reserve(cpus float64) Option { return func(c *config) { c.fit.Reserve = cpus } }

// Round says what becomes of a part of a CPU; the default is Ceil.
func Round(r Rounding) Option { return func(c *config) { c.fit.Rounding = r } }

// Threshold is the smallest part of a CPU that is rounded up: with 0.5, 2.4
// CPUs are 2 Ps and 2.5 are 3. It goes before Round.
func Threshold(cpus float64) Option { return func(c *config) { c.fit.Threshold = cpus } }

// RoundQuotaFunc rounds by a function of your own, as the option of this name
// of go.uber.org/automaxprocs does. It goes before Threshold and Round.
func RoundQuotaFunc(round func(cpus float64) int) Option {
	return func(c *config) { c.round = round }
}

// Use takes all of Fit's settings at once.
func Use(p Fit) Option { return func(c *config) { c.fit = p } }

// Detail fills r with what Set found and did.
func Detail(r *Result) Option { return func(c *config) { c.detail = r } }

func (c *config) procs(cpus float64) int {
	if c.round == nil {
		return c.fit.Procs(cpus)
	}
	if c.fit.Reserve > 0 {
		cpus -= c.fit.Reserve
	}
	return c.fit.clamp(c.round(cpus))
}
