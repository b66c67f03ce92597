package lab

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/procfit/procfit/internal/show/number"
)

// table is the document's of a program: times by release of Go and machine, by GOMAXPROCS.
type table struct {
	metric figure
	unit   string
	times  map[ranWith]map[int]float64

	most  float64 // "under 1.1x": of two Ps with Go 1.5
	about string  // "about 2x": the same with Go 1.4
	since string  // what it says of the releases before
}

// ranWith is a release of Go and one of the document's machines. The release is "" where it has one.
type ranWith struct{ release, on string }

const reducedTo2 = "“by Go 1.1 (not shown) it had been reduced to about 2x, where it has stayed through Go 1.4”"

var (
	chainTable = table{metric: "Chain ns/op", unit: "µs", most: 1.1, about: "about 2", since: reducedTo2, times: map[ranWith]map[int]float64{
		{"1.4", OnLaptop}: {1: 28.8, 2: 57, 4: 66},
		{"1.5", OnLaptop}: {1: 27.1, 2: 29, 4: 29},
		{"1.4", OnServer}: {1: 38.8, 2: 110, 4: 119, 8: 120, 12: 111, 16: 106},
		{"1.5", OnServer}: {1: 36.1, 2: 37, 4: 37, 8: 38, 12: 37, 16: 37},
	}}
	chainbufTable = table{metric: "ChainBuf ns/op", unit: "µs", most: 1.1, about: "about 2", since: reducedTo2, times: map[ranWith]map[int]float64{
		{"1.4", OnLaptop}: {1: 32.4, 2: 60, 4: 69},
		{"1.5", OnLaptop}: {1: 30.2, 2: 33, 4: 33},
		{"1.4", OnServer}: {1: 40.8, 2: 116, 4: 121, 8: 125, 12: 115, 16: 109},
		{"1.5", OnServer}: {1: 39.7, 2: 41, 4: 41, 8: 41, 12: 41, 16: 41},
	}}
	powserTable = table{
		metric: "Powser ns/op", unit: "s", most: 1.2, about: "about 2.5", since: "“Go 1.1 through Go 1.4 reduced that overhead to about 2.5x”",
		times: map[ranWith]map[int]float64{
			{"1.4", OnLaptop}: {1: 3.34, 2: 8.1, 4: 8.3},
			{"1.5", OnLaptop}: {1: 3.10, 2: 3.3, 4: 3.5},
			{"1.4", OnServer}: {1: 4.18, 2: 11.2, 4: 13.5, 8: 13.2, 12: 12.3, 16: 11.6},
			{"1.5", OnServer}: {1: 4.05, 2: 4.2, 4: 4.7, 8: 4.7, 12: 4.7, 16: 4.7},
		},
	}
	sieveTable = table{metric: "Sieve ns/op", unit: "s", times: map[ranWith]map[int]float64{
		{"1.4", OnLaptop}: {1: 21.8, 2: 18.9, 4: 12.7},
		{"1.5", OnLaptop}: {1: 21.1, 2: 17.0, 4: 10.6},
		{"1.4", OnServer}: {1: 27.8, 2: 18.9, 4: 10.2, 8: 5.4, 12: 4.5, 16: 3.6},
		{"1.5", OnServer}: {1: 27.3, 2: 15.3, 4: 8.1, 8: 4.7, 12: 3.9, 16: 3.7},
	}}
	garbageTable = table{metric: "Garbage ns/op", unit: "ns", times: map[ranWith]map[int]float64{{"", OnServer}: {1: 31461838, 4: 10427806, 16: 5754040}}}
	httpTable    = table{metric: "HTTP ns/op", unit: "ns", times: map[ranWith]map[int]float64{{"", OnServer}: {1: 146737, 4: 32853, 16: 12652}}}
	jsonTable    = table{metric: "JSON ns/op", unit: "ns", times: map[ranWith]map[int]float64{{"", OnServer}: {1: 145014842, 4: 44788720, 16: 21817571}}}
)

// Curve is a document's figure by GOMAXPROCS.
type Curve struct {
	Metric  string // as the program prints it
	Go      string // release; empty: the program has one version
	On      string // machine
	Seconds map[int]float64
}

func (t table) curves() (list []Curve) {
	unit := map[string]float64{"s": 1, "µs": 1e-6, "ns": 1e-9}[t.unit]
	for _, release := range []string{"", "1.4", "1.5"} {
		for _, on := range []string{OnLaptop, OnServer} {
			c := Curve{string(t.metric), release, on, map[int]float64{}}
			for procs, x := range t.times[ranWith{release, on}] {
				c.Seconds[procs] = unit * x
			}
			if len(c.Seconds) > 0 {
				list = append(list, c)
			}
		}
	}
	return list
}

// cost is a hypothesis about what some Ps cost of one P's time, without its bounds.
func (t table) cost(id, says, release, on string, procs int) Hypothesis {
	times := t.times[ranWith{cmp.Or(release, "1.5"), on}]
	return Hypothesis{
		ID: id, Says: says, Document: over(times[procs], times[1], t.unit), Value: times[procs] / times[1], On: on, Needs: float64(procs),
		Today: release == "", Measure: t.metric.At(ps(strconv.Itoa(procs))).built(release).over("1"),
	}
}

// over is a quotient as a hypothesis's Document has it.
func over(a, b float64, unit string) string {
	write := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	return fmt.Sprintf("%s ÷ %s %s = %s", write(a), write(b), unit, number.Count(a/b))
}

// What two Ps cost before Go 1.5 is the waking of threads on CPUs that are idle. The document's
// machines had 4 CPUs and 16; where two Ps are all CPUs, there is none to wake.
const idleCPU = 4

// switching are the hypotheses of programs that gain nothing from a second P. The
// document's words are the bounds: "under 1.1x"; of "about 2x", what its two
// machines have and a quarter beyond, since they differ by that themselves.
func switching(t table) []Hypothesis {
	then := t.cost("go1_4_two_ps", "", "1.4", OnLaptop, 2)
	server := t.cost("", "", "1.4", OnServer, 2).Value
	then.AtLeast, then.AtMost, then.Needs = min(then.Value, server)/1.25, max(then.Value, server)*1.25, idleCPU
	about := fmt.Sprintf("two Ps cost %s times one P (%.3g to %.3g)", t.about, then.AtLeast, then.AtMost)
	then.Says = "Go 1.4: " + about
	before := then
	before.ID, before.Says, before.Document, before.Value, before.On = "go1_2_two_ps", "Go 1.2: "+about, t.since, 0, ""
	before.Measure = t.metric.At("2").built("1.2").over("1")
	under := func(id, says, release, on string, procs int) Hypothesis {
		h := t.cost(id, fmt.Sprintf("%s under %g times%s", says, t.most, map[bool]string{true: " one P"}[procs == 2]), release, on, procs)
		h.AtMost = t.most
		return h
	}
	return []Hypothesis{
		under("go1_5_two_ps", "Go 1.5: two Ps cost", "1.5", OnLaptop, 2),
		under("go1_5_four_ps", "Go 1.5: four Ps do so too,", "1.5", OnServer, 4),
		then,
		before,
		under("today_two_ps", "today's Go: two Ps still cost", "", OnServer, 2),
		under("today_four_ps", "today's Go: four Ps do so too,", "", OnLaptop, 4),
		under("go1_5_eight_ps", "Go 1.5: 8 Ps do so too,", "1.5", OnServer, 8),
		under("go1_5_twelve_ps", "Go 1.5: 12 Ps do so too,", "1.5", OnServer, 12),
		under("go1_5_sixteen_ps", "Go 1.5: 16 Ps do so too,", "1.5", OnServer, 16),
	}
}

// sieving are the sieve's. The lower bound is the document's other machine: its laptop gains least,
// and its CPUs are threads of two cores. Of two Ps the laptop's runs spread over 0.79 to 1.31 times
// their median, which is 0.95 to 1.6 times one P: there only the direction is the document's. There
// is no second machine of 8 and more: less a quarter, which the runs' own spread comes to (0.80 to
// 1.36 at two Ps).
func sieving(t table) (list []Hypothesis) {
	for _, q := range []struct {
		id, says, release, on string
		procs                 int
		least                 float64
	}{
		{"go1_5_two_ps", "Go 1.5: two Ps are faster than one", "1.5", OnLaptop, 2, 1},
		{"go1_5_four_ps", "Go 1.5: four Ps are at least 1.99 times as fast as one", "1.5", OnServer, 4, 21.1 / 10.6},
		{"go1_5_eight_ps", "Go 1.5: 8 Ps are at least 4.4 times as fast as one", "1.5", OnServer, 8, 27.3 / 4.7 * 0.75},
		{"go1_5_twelve_ps", "Go 1.5: 12 Ps are at least 5.2 times as fast as one", "1.5", OnServer, 12, 27.3 / 3.9 * 0.75},
		{"go1_5_sixteen_ps", "Go 1.5: 16 Ps are at least 5.5 times as fast as one", "1.5", OnServer, 16, 27.3 / 3.7 * 0.75},
		{"go1_4_two_ps", "Go 1.4: two Ps are at least 1.15 times as fast as one (as on the laptop)", "1.4", OnServer, 2, 21.8 / 18.9},
		{"today_two_ps", "today's Go: two Ps are faster than one", "", OnLaptop, 2, 1},
		{"today_four_ps", "today's Go: four Ps are at least 1.99 times as fast as one", "", OnLaptop, 4, 21.1 / 10.6},
	} {
		times := t.times[ranWith{cmp.Or(q.release, "1.5"), q.on}]
		list = append(list, Hypothesis{
			ID: q.id, Says: q.says, Document: over(times[1], times[q.procs], t.unit), Value: times[1] / times[q.procs], On: q.on, Needs: float64(q.procs), Today: q.release == "",
			Measure: t.metric.At("1").built(q.release).over(ps(strconv.Itoa(q.procs))), AtLeast: q.least,
		})
	}
	return list
}

// parallelProgram are the hypotheses of programs with inherent parallelism, at 1, 4 and 16 on the
// server. Its 4 Ps leave 12 CPUs to the kernel and the collector, so a fifth less is still the same.
func parallelProgram(t table) []Hypothesis {
	times := t.times[ranWith{"", OnServer}]
	ask := func(id, name string, procs int) Hypothesis {
		gain := times[1] / times[procs]
		return Hypothesis{
			ID: id, Says: name + " Ps are " + number.Count(gain) + " times as fast as one, or a fifth less",
			Document: over(times[1], times[procs], t.unit), Value: gain, On: OnServer, Needs: float64(procs),
			Measure: t.metric.At("1").over(ps(strconv.Itoa(procs))), AtLeast: gain * 0.8,
		}
	}
	return []Hypothesis{ask("four_ps", "four", 4), ask("sixteen_ps", "16", 16), t.eachCPU("each CPU adds %s of what one does", 4)}
}

// eachCPU is the same by CPU, for a machine of any size: the share of the document's at some Ps.
func (t table) eachCPU(says string, procs int) Hypothesis {
	times := t.times[ranWith{"", OnServer}]
	gain := times[1] / times[procs]
	share := gain / float64(procs)
	return Hypothesis{
		ID: "each_cpu", Says: fmt.Sprintf(says, number.Count(share)) + ", or a fifth less",
		Document: fmt.Sprintf("%s ÷ %d times = %s", number.Count(gain), procs, number.Count(share)), Value: share, On: OnServer, Needs: 2,
		Measure: speedup(t.metric.At("n")), AtLeast: share * 0.8,
	}
}

// httpHypotheses are those of the program that spends most of its time in the kernel.
// The document's four Ps left it 12 CPUs, so that what each CPU adds where all are used
// is only its 16 of 16 to tell. As many clients as are needed run in the same process, and the kernel's
// part of a request has no CPU to itself where two Ps are all of a machine.
func httpHypotheses() []Hypothesis {
	list := parallelProgram(httpTable)
	each := httpTable.eachCPU("with a P for each CPU, each adds %s of what one alone does", 16)
	each.Needs = idleCPU
	list[len(list)-1] = each
	return list
}
