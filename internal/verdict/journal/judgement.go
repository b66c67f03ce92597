package journal

import "time"

// What a phase must hold for its p99 to be judged. In a machine made to repeat itself,
// one setting gave a p99 of 1.3 to 9 ms in phases of 1.5 s and of 1.3 to 1.4 ms where
// it had these: the tail of fewer requests, or of fewer throttled periods, is luck.
const (
	LeastRequests = 100 * RequestsBeyond
	LeastPeriods  = 100 * PeriodsBeyond
	// QuotaPeriod is the kernel's default CFS period, which the quotas have.
	QuotaPeriod = 100 * time.Millisecond
)

// What must lie above a quantile for it to be judged: requests, and under a CPU limit
// periods, since a throttled period delays all requests in it together.
const (
	RequestsBeyond = 50
	PeriodsBeyond  = 1
)

// CarriedQuantiles are those usually told that so many requests carry, the highest
// first; periods are those of the quota, and nil where there is none.
func CarriedQuantiles(requests int64, periods *int64) (list []float64) {
	carries := func(n, perMille, least int64) bool { return float64(n)*float64(1000-perMille) >= float64(least)*1000 }
	for _, perMille := range []int64{990, 950, 900, 750, 500} {
		if carries(requests, perMille, RequestsBeyond) && (periods == nil || carries(*periods, perMille, PeriodsBeyond)) {
			list = append(list, float64(perMille)/1000)
		}
	}
	return list
}
