package journal

import "time"

// What a phase must hold for its p99 to be judged. In a machine made to repeat itself,
// one setting gave a p99 of 1.3 to 9 ms in phases of 1.5 s and of 1.3 to 1.4 ms where
// it had these: the tail of fewer requests, or of fewer throttled periods, is luck.
const (
	LeastRequests = 5000
	LeastPeriods  = 100
	// QuotaPeriod is the kernel's default CFS period, which the quotas have.
	QuotaPeriod = 100 * time.Millisecond
)

// beyond is how many requests must lie above a quantile for it to stand: as many as
// above the p99 of LeastRequests.
const beyond = LeastRequests / 100

// CarriedQuantiles are those usually told that so many requests carry, the highest
// first.
func CarriedQuantiles(requests int64) (list []float64) {
	for _, perMille := range []int64{990, 950, 900, 750, 500} {
		if float64(requests)*float64(1000-perMille) >= beyond*1000 {
			list = append(list, float64(perMille)/1000)
		}
	}
	return list
}
