package lab

import (
	"fmt"
	"strconv"

	"github.com/procfit/procfit/internal/show/number"
)

// costs are a program's at 1, 2 and 4 Ps on one machine.
type costs struct{ one, two, four float64 }

// table is the document's, of its two machines.
type table struct {
	laptop14, server14, laptop15, server15 costs
	beyond                                 [3]float64 // of server15, at 8, 12 and 16 Ps
	unit                                   string
	most                                   float64 // "under 1.1x": of two Ps with Go 1.5
	about                                  string  // "about 2x": the same with Go 1.4
	since                                  string  // what it says of the releases before
}

const reducedTo2 = "“by Go 1.1 (not shown) it had been reduced to about 2x, where it has stayed through Go 1.4”"

var (
	chainTable = table{
		laptop14: costs{28.8, 57, 66}, server14: costs{38.8, 110, 119},
		laptop15: costs{27.1, 29, 29}, server15: costs{36.1, 37, 37}, beyond: [3]float64{38, 37, 37}, unit: "µs", most: 1.1, about: "about 2", since: reducedTo2,
	}
	chainbufTable = table{
		laptop14: costs{32.4, 60, 69}, server14: costs{40.8, 116, 121},
		laptop15: costs{30.2, 33, 33}, server15: costs{39.7, 41, 41}, beyond: [3]float64{41, 41, 41}, unit: "µs", most: 1.1, about: "about 2", since: reducedTo2,
	}
	powserTable = table{
		laptop14: costs{3.34, 8.1, 8.3}, server14: costs{4.18, 11.2, 13.5},
		laptop15: costs{3.10, 3.3, 3.5}, server15: costs{4.05, 4.2, 4.7}, beyond: [3]float64{4.7, 4.7, 4.7}, unit: "s", most: 1.2, about: "about 2.5",
		since: "“Go 1.1 through Go 1.4 reduced that overhead to about 2.5x”",
	}
)

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
func switching(metric figure, t table) []Hypothesis {
	laptop, server := t.laptop14.two/t.laptop14.one, t.server14.two/t.server14.one
	low, high := min(laptop, server)/1.25, max(laptop, server)*1.25
	about := fmt.Sprintf("two Ps cost %s times one P (%.3g to %.3g)", t.about, low, high)
	list := []Hypothesis{
		{
			ID: "go1_5_two_ps", Says: fmt.Sprintf("Go 1.5: two Ps cost under %g times one P", t.most),
			Document: over(t.laptop15.two, t.laptop15.one, t.unit), Value: t.laptop15.two / t.laptop15.one, On: OnLaptop, Needs: 2,
			Measure: metric.At("2").built("1.5").over("1"), AtMost: t.most,
		},
		{
			ID: "go1_5_four_ps", Says: fmt.Sprintf("Go 1.5: four Ps do so too, under %g times", t.most),
			Document: over(t.server15.four, t.server15.one, t.unit), Value: t.server15.four / t.server15.one, On: OnServer, Needs: 4,
			Measure: metric.At("4").built("1.5").over("1"), AtMost: t.most,
		},
		{
			ID: "go1_4_two_ps", Says: "Go 1.4: " + about,
			Document: over(t.laptop14.two, t.laptop14.one, t.unit), Value: laptop, On: OnLaptop, Needs: idleCPU,
			Measure: metric.At("2").built("1.4").over("1"), AtLeast: low, AtMost: high,
		},
		{
			ID: "go1_2_two_ps", Says: "Go 1.2: " + about,
			Document: t.since, Needs: idleCPU,
			Measure: metric.At("2").built("1.2").over("1"), AtLeast: low, AtMost: high,
		},
		{
			ID: "today_two_ps", Today: true, Says: fmt.Sprintf("today's Go: two Ps still cost under %g times one P", t.most),
			Document: over(t.server15.two, t.server15.one, t.unit), Value: t.server15.two / t.server15.one, On: OnServer, Needs: 2,
			Measure: metric.At("2").over("1"), AtMost: t.most,
		},
		{
			ID: "today_four_ps", Today: true, Says: fmt.Sprintf("today's Go: four Ps do so too, under %g times", t.most),
			Document: over(t.laptop15.four, t.laptop15.one, t.unit), Value: t.laptop15.four / t.laptop15.one, On: OnLaptop, Needs: 4,
			Measure: metric.At("4").over("1"), AtMost: t.most,
		},
	}
	names := []string{"eight", "twelve", "sixteen"}
	for i, procs := range []int{8, 12, 16} {
		cost := t.beyond[i]
		list = append(list, Hypothesis{
			ID: "go1_5_" + names[i] + "_ps", Says: fmt.Sprintf("Go 1.5: %d Ps do so too, under %g times", procs, t.most),
			Document: over(cost, t.server15.one, t.unit), Value: cost / t.server15.one, On: OnServer, Needs: float64(procs),
			Measure: metric.At(ps(strconv.Itoa(procs))).built("1.5").over("1"), AtMost: t.most,
		})
	}
	return list
}

// parallelProgram are the hypotheses of programs with inherent parallelism: nanoseconds
// at 1, 4 and 16 on the server. Its 4 Ps leave 12 CPUs to the kernel and the
// collector, so a fifth less is still the same.
func parallelProgram(metric figure, one, four, sixteen float64) []Hypothesis {
	return []Hypothesis{
		{
			ID: "four_ps", Says: "four Ps are " + number.Count(one/four) + " times as fast as one, or a fifth less",
			Document: over(one, four, "ns"), Value: one / four, On: OnServer, Needs: 4, Measure: metric.At("1").over("4"), AtLeast: one / four * 0.8,
		},
		{
			ID: "sixteen_ps", Says: "16 Ps are " + number.Count(one/sixteen) + " times as fast as one, or a fifth less",
			Document: over(one, sixteen, "ns"), Value: one / sixteen, On: OnServer, Needs: 16, Measure: metric.At("1").over("16"), AtLeast: one / sixteen * 0.8,
		},
		{
			// The same by CPU, for a machine of any size.
			ID: "each_cpu", Says: "each CPU adds " + number.Count(one/four/4) + " of what one does, or a fifth less",
			Document: number.Count(one/four) + " ÷ 4 times = " + number.Count(one/four/4), Value: one / four / 4, On: OnServer, Needs: 2, Measure: speedup(metric.At("n")), AtLeast: one / four / 4 * 0.8,
		},
	}
}

// httpHypotheses are those of the program that spends most of its time in the kernel.
// The document's four Ps left it 12 CPUs, so that what each CPU adds where all are used
// is only its 16 of 16 to tell. As many clients as are needed run in the same process, and the kernel's
// part of a request has no CPU to itself where two Ps are all of a machine.
func httpHypotheses() []Hypothesis {
	const metric, one, sixteen = figure("HTTP ns/op"), 146737, 12652.0
	list := parallelProgram(metric, one, 32853, sixteen)
	each := &list[len(list)-1]
	const share = one / sixteen / 16
	each.Says = "with a P for each CPU, each adds " + number.Count(share) + " of what one alone does, or a fifth less"
	each.Needs = idleCPU
	each.Document, each.Value, each.AtLeast = number.Count(one/sixteen)+" ÷ 16 times = "+number.Count(share), share, share*0.8
	return list
}
