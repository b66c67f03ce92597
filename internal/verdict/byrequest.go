package verdict

import "github.com/procfit/procfit/internal/verdict/journal"

// RequestLatency is one request of a mix at one setting, in the loop whose latency is
// displayed: medians over the setting's valid trials, and sums.
type RequestLatency struct {
	Name     string   `json:"name"`
	Requests int64    `json:"requests"`
	Errors   int64    `json:"errors"`
	P50      Interval `json:"p50_seconds"`
	P99      Interval `json:"p99_seconds"`
}

// byRequest are the requests of a mix, in the order of the first trial that has them.
func byRequest(trials []*journal.Trial, mode journal.Mode) (list []RequestLatency) {
	at := map[string]int{}
	p50, p99 := map[string][]float64{}, map[string][]float64{}
	for _, t := range trials {
		for _, one := range mixOf(t, mode) {
			i, known := at[one.Name]
			if !known {
				i = len(list)
				at[one.Name] = i
				list = append(list, RequestLatency{Name: one.Name})
			}
			list[i].Requests += one.Requests
			list[i].Errors += one.Errors
			if l := one.LatencySeconds; l != nil && l.P50 != nil && l.P99 != nil {
				p50[one.Name] = append(p50[one.Name], *l.P50)
				p99[one.Name] = append(p99[one.Name], *l.P99)
			}
		}
	}
	for i := range list {
		list[i].P50, list[i].P99 = medianOf(p50[list[i].Name]), medianOf(p99[list[i].Name])
	}
	return list
}

// mixOf are the requests of a valid trial's last phase of the mode.
func mixOf(t *journal.Trial, mode journal.Mode) (list []journal.RequestFigures) {
	for i := range t.Phases {
		if p := &t.Phases[i]; t.Valid && p.Mode == mode {
			list = p.ByRequest
		}
	}
	return list
}
