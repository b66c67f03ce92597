package maxprocs

import (
	"runtime"

	"github.com/procfit/procfit/maxprocs/theirs"
)

// What automaxprocs' own test has of the package that it tests.

const _maxProcsKey = "GOMAXPROCS"

func currentMaxProcs() int { return runtime.GOMAXPROCS(0) }

type optionFunc = Option

// quota is their question: how many Ps, of the minimum and the rounding.
type quota func(least int, round func(float64) int) (int, theirs.CPUQuotaStatus, error)

func (ask quota) with(c *config) (int, theirs.CPUQuotaStatus, error) {
	least, round := c.rule.Min, c.round
	if least == 0 {
		least = 1
	}
	if round == nil {
		round = theirs.DefaultRoundFunc
	}
	return ask(least, round)
}

// stub makes limits of the answers: as many CPUs on a machine of many, half a CPU
// for what is below the minimum, none, or an error.
func stub(c *config, ask quota) {
	here := c.sys.affinity
	c.sys.affinity = func() int {
		if _, status, _ := ask.with(c); status == theirs.CPUQuotaUndefined {
			return here()
		}
		return 1000
	}
	c.sys.limits = func() limits {
		n, status, err := ask.with(c)
		switch {
		case err != nil:
			return limits{}.miss(unread("the quota", err))
		case status == theirs.CPUQuotaMinUsed:
			return limits{cpus: 0.5}
		case status == theirs.CPUQuotaUsed:
			return limits{cpus: float64(n)}
		}
		return limits{}
	}
}
