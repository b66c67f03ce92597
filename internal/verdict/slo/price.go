package slo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Price is what a setting costs: of each CPU of its limit, and of each replica
// whatever its size. The unit is the user's.
type Price struct {
	CPU     float64 `json:"cpu"`
	Replica float64 `json:"replica,omitempty"`
}

// ParsePrice reads "cpu=0.04,replica=0.01". What is not named costs nothing.
func ParsePrice(s string) (Price, error) {
	const form = "want prices above zero, as in cpu=0.04,replica=0.01"
	var p Price
	for item := range strings.SplitSeq(s, ",") {
		name, number, _ := strings.Cut(strings.TrimSpace(item), "=")
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return Price{}, fmt.Errorf("%q: %s", item, form)
		}
		switch strings.TrimSpace(name) {
		case "cpu":
			p.CPU = v
		case "replica":
			p.Replica = v
		default:
			return Price{}, fmt.Errorf("%q: only cpu and replica have a price: %s", item, form)
		}
	}
	return p, nil
}

// Of is the price of so many replicas under a limit of so many CPUs each.
func (p Price) Of(cpus float64, replicas int) float64 {
	return float64(replicas) * (p.CPU*cpus + p.Replica)
}
