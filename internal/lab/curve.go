package lab

// The machines of document 002. A gain on four hardware threads of two cores is not one
// on sixteen, so it is said which of them a number is of.
const (
	onLaptop = "laptop"
	onServer = "server"
)

// Curve is what a document measured of a practice program by GOMAXPROCS, to be drawn over
// what is measured here. The machines are not alike: only its shape can be compared.
type Curve struct {
	Metric  string // as the program prints it
	Go      string // release; empty: our program has one version, and it stands beside that
	On      string // machine; empty: the document has one
	Seconds map[int]float64
}

// Curves are those of an experiment, if its document has figures for them.
func Curves(experiment string) []Curve { return documentCurves()[experiment] }

func documentCurves() map[string][]Curve {
	const µs, ns = 1e-6, 1e-9
	return map[string][]Curve{
		"chain": {
			{"Chain ns/op", "1.4", onLaptop, by(µs, 1, 28.8, 2, 57, 4, 66)},
			{"Chain ns/op", "1.5", onLaptop, by(µs, 1, 27.1, 2, 29, 4, 29)},
			{"Chain ns/op", "1.4", onServer, by(µs, 1, 38.8, 2, 110, 4, 119, 8, 120, 12, 111, 16, 106)},
			{"Chain ns/op", "1.5", onServer, by(µs, 1, 36.1, 2, 37, 4, 37, 8, 38, 12, 37, 16, 37)},
		},
		"chainbuf": {
			{"ChainBuf ns/op", "1.4", onLaptop, by(µs, 1, 32.4, 2, 60, 4, 69)},
			{"ChainBuf ns/op", "1.5", onLaptop, by(µs, 1, 30.2, 2, 33, 4, 33)},
			{"ChainBuf ns/op", "1.4", onServer, by(µs, 1, 40.8, 2, 116, 4, 121, 8, 125, 12, 115, 16, 109)},
			{"ChainBuf ns/op", "1.5", onServer, by(µs, 1, 39.7, 2, 41, 4, 41, 8, 41, 12, 41, 16, 41)},
		},
		"powser": {
			{"Powser ns/op", "1.4", onLaptop, by(1, 1, 3.34, 2, 8.1, 4, 8.3)},
			{"Powser ns/op", "1.5", onLaptop, by(1, 1, 3.10, 2, 3.3, 4, 3.5)},
			{"Powser ns/op", "1.4", onServer, by(1, 1, 4.18, 2, 11.2, 4, 13.5, 8, 13.2, 12, 12.3, 16, 11.6)},
			{"Powser ns/op", "1.5", onServer, by(1, 1, 4.05, 2, 4.2, 4, 4.7, 8, 4.7, 12, 4.7, 16, 4.7)},
		},
		"sieve": {
			{"Sieve ns/op", "1.4", onLaptop, by(1, 1, 21.8, 2, 18.9, 4, 12.7)},
			{"Sieve ns/op", "1.5", onLaptop, by(1, 1, 21.1, 2, 17.0, 4, 10.6)},
			{"Sieve ns/op", "1.4", onServer, by(1, 1, 27.8, 2, 18.9, 4, 10.2, 8, 5.4, 12, 4.5, 16, 3.6)},
			{"Sieve ns/op", "1.5", onServer, by(1, 1, 27.3, 2, 15.3, 4, 8.1, 8, 4.7, 12, 3.9, 16, 3.7)},
		},
		"garbage": {{"Garbage ns/op", "", onServer, by(ns, 1, 31461838, 4, 10427806, 16, 5754040)}},
		"http":    {{"HTTP ns/op", "", onServer, by(ns, 1, 146737, 4, 32853, 16, 12652)}},
		"json":    {{"JSON ns/op", "", onServer, by(ns, 1, 145014842, 4, 44788720, 16, 21817571)}},
	}
}

// by are times by GOMAXPROCS, in pairs.
func by(unit float64, pairs ...float64) map[int]float64 {
	m := map[int]float64{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[int(pairs[i])] = unit * pairs[i+1]
	}
	return m
}
