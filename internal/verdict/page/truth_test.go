package page_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/stat"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
)

// Every sentence is true of the table that is below it, whatever was measured. The
// full count is run by .ci/full.
func TestSentencesAreTrueOfTheTable(t *testing.T) {
	n := 150
	if os.Getenv("PROCFIT_FULL") != "" {
		n = 10000
	}
	if x, err := strconv.Atoi(os.Getenv("PROCFIT_SWEEPS")); err == nil {
		n = x
	}
	bad, verdicts := 0, map[string]int{}
	for seed := range n {
		random, one := rand.New(rand.NewPCG(uint64(seed), 11)), randomResult
		if seed%5 == 4 {
			one = slicedResult
		}
		r := one(random)
		for i, problem := range contradictions(r, verdicts) {
			if i == 0 {
				bad++
			}
			if bad <= 5 {
				t.Errorf("sweep %d: %s", seed, problem)
			}
		}
	}
	t.Logf("%d of %d sweeps contradict themselves; %v", bad, n, verdicts)
	if bad > 0 {
		t.Errorf("%d of %d sweeps contradict themselves", bad, n)
	}
	for _, label := range []string{"Recommended", "Keep the default", "No difference", "Undecided", "Trade-off"} {
		if n >= 150 && verdicts[label] == 0 {
			t.Errorf("no sweep ends in %q, so that nothing is known of it: %v", label, verdicts)
		}
	}
}

// slicedResult is a sweep after slices of one start, of a program with any curve, flat or not.
func slicedResult(r *rand.Rand) *verdict.Result {
	depth, levels := []float64{0.02, 0.1, 0.5}[r.IntN(3)], make([]float64, 4)
	for i := range levels {
		levels[i] = 100 * (1 - depth*r.Float64())
	}
	world := func(procs int, _ map[string]string) (float64, int64) { return levels[procs-1], 50 << 20 }
	h, trials, slices := verdicttest.Sliced(world, world, r.Uint64())
	return verdict.Analyze(h, trials, slices...)
}

// checker holds one group's table against what is reported above it.
type checker struct {
	g        *verdict.Group
	view     section
	said     page.Verdict
	problems []string
}

func contradictions(r *verdict.Result, verdicts map[string]int) []string {
	c := &checker{g: &r.Groups[0], view: sections(r)[0], said: page.VerdictOf(r)}
	label := regexp.MustCompile(`Likely \d+`).ReplaceAllString(c.said.Label, "Likely N")
	verdicts[label]++
	c.headline()
	c.answer()
	c.reasons()
	c.texts()
	c.standings()
	c.quantiles()
	c.advice()
	return c.problems
}

func (c *checker) wrong(format string, args ...any) {
	var table []string
	for i, r := range c.view.Table.Rows {
		row := &c.g.Rows[i]
		table = append(table, fmt.Sprintf("%s T=%s L=%s %v", r.Cells[0].Value, value(row.Throughput), value(row.Judged), excluded(row)))
	}
	c.problems = append(c.problems, fmt.Sprintf(format, args...)+"\n\t"+c.said.Label+": "+c.said.Answer.Sentence()+
		"\n\t"+strings.Join(c.said.Reasons, "\n\t")+"\n\t"+strings.Join(table, "\n\t"))
}

func value(i stat.Interval) string {
	if i.Median == nil {
		return "–"
	}
	return strconv.FormatFloat(*i.Median, 'g', 4, 64)
}

func excluded(a *verdict.Row) string {
	if a.Excluded == nil {
		return ""
	}
	return string(*a.Excluded)
}

// row is what the table has of a setting.
func (c *checker) row(s *contest.Value) *verdict.Row {
	for i := range c.g.Rows {
		if a := &c.g.Rows[i]; a.Variant == "" && a.Label == s.Setting {
			return a
		}
	}
	c.wrong("%s is in no row", s.Setting)
	return &verdict.Row{}
}

// compared are the rows that take part in comparisons of throughput.
func (c *checker) compared() []*verdict.Row {
	var list []*verdict.Row
	out := []string{"invalid", "too_few_cpus", "unread", "differs", "no_throughput"}
	for i := range c.g.Rows {
		if a := &c.g.Rows[i]; a.Variant == "" && a.Sliced == nil && !slices.Contains(out, excluded(a)) {
			list = append(list, a)
		}
	}
	return list
}

func same2(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(math.Abs(a), math.Abs(b))+1e-12 }

// figures of a setting are those of its row.
func (c *checker) figures(s *contest.Value) *verdict.Row {
	a := c.row(s)
	if s.Throughput.Median != nil && (a.Throughput.Median == nil || !same2(*s.Throughput.Median, *a.Throughput.Median)) {
		c.wrong("throughput of %s is %g, in the table %s", s.Setting, *s.Throughput.Median, value(a.Throughput))
	}
	if s.P99.Median != nil && (a.Judged.Median == nil || !same2(*s.P99.Median, *a.Judged.Median)) {
		c.wrong("latency of %s is %g, in the table %s", s.Setting, *s.P99.Median, value(a.Judged))
	}
	holdsDefault := a.Procs == nil || len(a.PooledWith) > 0
	if s.Default != holdsDefault && s.Procs > 0 {
		c.wrong("%s is called the default: %v, and its row holds unset: %v", s.Setting, s.Default, holdsDefault)
	}
	return a
}

func (c *checker) reasons() {
	rec := &c.g.Recommendation
	all := []flat{flatten(rec.Claim)}
	for _, x := range rec.Reasons {
		all = append(all, flatten(x))
	}
	for _, s := range rec.Next {
		all = append(all, flat{List: s.List})
	}
	for i := range all {
		r := &all[i]
		for _, s := range []*contest.Value{r.Of, r.Than} {
			if s != nil {
				c.figures(s)
			}
		}
		for k := range r.List {
			c.figures(r.List[k])
		}
		if r.Of == nil || r.Than == nil {
			continue
		}
		switch r.Code {
		case verdict.ReasonSlower{}.Code(), verdict.ReasonAsFast{}.Code(), verdict.ReasonSpeedOpen{}.Code(), verdict.ReasonSetAside{}.Code():
			c.speed(r)
		case verdict.ReasonLater{}.Code(), verdict.ReasonAsPrompt{}.Code(), verdict.ReasonP99Open{}.Code():
			c.promptness(r)
		case verdict.ReasonCostlier{}.Code():
			c.cost(r)
		}
	}
}

// cost: what is reported to use more CPU time per request has more Ps, and more in its row.
func (c *checker) cost(r *flat) {
	of, than := c.row(r.Of).OpenEvidence, c.row(r.Than).OpenEvidence
	if r.Of.Procs <= r.Than.Procs || of == nil || than == nil || of.CPUSecondsEach == nil || than.CPUSecondsEach == nil || !(*of.CPUSecondsEach > *than.CPUSecondsEach) {
		c.wrong("the page claims that %s uses more CPU time per request than %s: %+v, %+v", r.Of.Setting, r.Than.Setting, of, than)
	}
	if rec := &c.g.Recommendation; flatten(rec.Claim).Of != nil && rec.Verdict == verdict.Recommended && flatten(rec.Claim).Of.Procs != r.Than.Procs {
		c.wrong("the CPU time per request is compared with %s, and %s is recommended", r.Than.Setting, flatten(rec.Claim).Of.Setting)
	}
}

// speed: what is reported against the best is what its row has.
func (c *checker) speed(r *flat) {
	a, best := c.row(r.Of), c.row(r.Than)
	if best.Label != c.g.Peak {
		c.wrong("%s is compared with %s, and the peak is %s", r.Of.Setting, r.Than.Setting, c.g.Peak)
	}
	if r.N == 0 {
		return
	}
	v := a.VersusPeak
	if v.Median == nil || !same2(r.Change, *v.Median-1) || !same2(1+r.Change, *a.Throughput.Median / *best.Throughput.Median) {
		c.wrong("%s is %g, its row has %s against the peak", r.Of.Setting, r.Change, value(v))
		return
	}
	as := a.NonInferior.Throughput != nil && *a.NonInferior.Throughput
	switch {
	case r.Code == verdict.ReasonSlower{}.Code() && (v.High == nil || !same2(r.Bound, *v.High-1) || *v.High >= 0.95 || excluded(a) == ""):
		c.wrong("%s is proven worse, and its row does not say so", r.Of.Setting)
	case r.Code == verdict.ReasonAsFast{}.Code() && (v.Low == nil || *v.Low <= 0.95 || !as || excluded(a) == "slower"):
		c.wrong("%s is proven as good, and its row does not say so", r.Of.Setting)
	case r.Code == verdict.ReasonSetAside{}.Code() && excluded(a) == "":
		c.wrong("%s is set aside, and its row does not say so", r.Of.Setting)
	case r.Code == verdict.ReasonSpeedOpen{}.Code() && (as || excluded(a) == "slower"):
		c.wrong("%s is open, and its row decides it", r.Of.Setting)
	}
}

func (c *checker) promptness(r *flat) {
	a, low := c.row(r.Of), c.row(r.Than)
	if r.N == 0 || a.Judged.Median == nil || low.Judged.Median == nil {
		return
	}
	if !same2(1+r.Change, *a.Judged.Median / *low.Judged.Median) {
		c.wrong("latency of %s against %s is %g, in the table %g", r.Of.Setting, r.Than.Setting, r.Change, *a.Judged.Median / *low.Judged.Median - 1)
	}
	if (r.Code == verdict.ReasonLater{}.Code()) != a.Later {
		c.wrong("%s is later: %v, its row %v", r.Of.Setting, r.Code == verdict.ReasonLater{}.Code(), a.Later)
	}
}

var (
	highest = regexp.MustCompile(`^(\d+(?: \(default\))?|the default) has the highest throughput( of the values compared)?`)
	lowest  = regexp.MustCompile(`^(\d+(?: \(default\))?|the default) has the lowest (p[\d.]+)( of the equally fast values| of the values compared| of the values)?(?: up to (\d+))?: `)
)

// texts reads the sentences as a user does, against the numbers shown.
func (c *checker) texts() {
	for _, text := range c.said.Reasons {
		if m := highest.FindStringSubmatch(text); m != nil {
			top := c.byName(m[1])
			for _, a := range c.claimed(m[2]) {
				if a.Throughput.Median != nil && *a.Throughput.Median > *top.Throughput.Median*(1+1e-9) {
					c.wrong("%q, and %s is higher", text, a.Label)
				}
			}
		}
		if m := lowest.FindStringSubmatch(text); m != nil {
			c.lowestOf(text, m)
		}
	}
}

// claimed are the rows that a highest or lowest one must beat: all of the table, less
// what its words leave out.
func (c *checker) claimed(but string) []*verdict.Row {
	if but == " of the values compared" {
		return c.compared()
	}
	var list []*verdict.Row
	for i := range c.g.Rows {
		a := &c.g.Rows[i]
		if x := excluded(a); a.Variant == "" && !(but == " of the equally fast values" && (x == "slower" || x == "saturated")) {
			list = append(list, a)
		}
	}
	return list
}

func (c *checker) lowestOf(text string, m []string) {
	low := c.byName(m[1])
	most, _ := strconv.Atoi(m[4])
	for _, a := range c.claimed(m[3]) {
		if m[3] == " of the values compared" && excluded(a) != "" || most > 0 && stat.OrZero(cmp.Or(a.Procs, a.ResolvedProcs)) > most {
			continue
		}
		if a.Judged.Median != nil && *a.Judged.Median < *low.Judged.Median*(1-1e-9) {
			c.wrong("%q, and %s has a lower one", text, a.Label)
		}
	}
	if shown := "p99"; m[2] != shown && !slices.ContainsFunc(c.view.Table.Columns, func(k document.Column) bool { return k.Head == m[2] }) {
		c.wrong("%q, and the table has no %s", text, m[2])
	}
}

func (c *checker) byName(name string) *verdict.Row {
	for i := range c.g.Rows {
		if c.view.Table.Rows[i].Cells[0].Value == name {
			return &c.g.Rows[i]
		}
	}
	return c.row(&contest.Value{Setting: journal.Default})
}

// quantiles: no row of a table, and no place of a chart, has a p50 above a p90.
func (c *checker) quantiles() {
	rise := func(where string, list ...*float64) {
		last := 0.0
		for _, x := range list {
			if x != nil && *x < last*(1-1e-9) {
				c.wrong("%s: the quantiles fall, to %g from %g", where, *x, last)
			} else if x != nil {
				last = *x
			}
		}
	}
	for i := range c.g.Rows {
		a := &c.g.Rows[i]
		judged := a.Judged.Median
		if c.g.Latency.Quantile < 0.5 {
			judged = nil
		}
		rise("row "+a.Label, a.P50.Median, judged, a.P99.Median)
	}
	for i := range c.g.Settings {
		rise("setting "+c.g.Settings[i].Label, c.g.Settings[i].P50.Median, c.g.Settings[i].P99.Median)
	}
	if c.view.Latency == nil {
		return
	}
	for k, category := range c.view.Latency.Categories {
		var list []*float64
		for _, s := range c.view.Latency.Series {
			if m := s.Marks[k]; m.Present {
				list = append(list, &m.At)
			}
		}
		rise("chart at "+category.Label, list...)
	}
}

func (c *checker) standings() {
	at := slices.IndexFunc(c.view.Table.Columns, func(k document.Column) bool { return k.Head == "Result" })
	if at < 0 {
		return
	}
	fastest := 0
	for i, row := range c.view.Table.Rows {
		if row.Cells[at].Value == "fastest" {
			fastest++
		}
		a := &c.g.Rows[i]
		if row.Cells[at].Value == "fastest" && a.Label != c.g.Peak {
			c.wrong("%s is said to lead, the peak is %s", a.Label, c.g.Peak)
		}
		if as := a.NonInferior.Throughput; row.Cells[at].Value == "as fast" && (as == nil || !*as) {
			c.wrong("the table has %s as fast, and nothing proves it", a.Label)
		}
		if shared := a.Excluded != nil && *a.Excluded == contest.ExcludedShared; shared && a.Variant == "" && c.g.Peak != "" && !strings.Contains(row.Cells[at].Detail, c.g.Latency.Name()+" is not compared") {
			c.wrong("%s has no latency that is compared, and its row does not say so", a.Label)
		}
	}
	if fastest > 1 {
		c.wrong("%d rows lead", fastest)
	}
}

func (c *checker) headline() {
	rec := &c.g.Recommendation
	likely := strings.HasPrefix(c.said.Label, "Likely")
	if likely != (rec.Confidence == verdict.Likely) {
		c.wrong("the label is %q of what is %s", c.said.Label, rec.Confidence)
	}
	if (likely || rec.Verdict == verdict.Undecided) && len(c.said.Next) == 0 {
		c.wrong("nothing says what would decide it")
	}
	if likely && len(c.view.Snippets) > 0 {
		c.wrong("what is not proven is to be pasted")
	}
	var marked []string
	for i, row := range c.view.Table.Rows {
		if row.Mark != "" {
			marked = append(marked, c.g.Rows[i].Label)
		}
	}
	switch rec.Verdict {
	case verdict.Recommended, verdict.KeepDefault, verdict.SustainsRate:
		a := c.row(flatten(rec.Claim).Of)
		if !slices.Equal(marked, []string{a.Label}) {
			c.wrong("%v are marked, %s is named", marked, a.Label)
		}
		if (rec.Procs == nil) != flatten(rec.Claim).Of.Default && rec.Verdict != verdict.Recommended {
			c.wrong("keep the default, and %s is not the default", flatten(rec.Claim).Of.Setting)
		}
		if x := excluded(a); x != "" && x != "load_on_cpus" && x != "no_latency" && rec.Verdict != verdict.SustainsRate {
			c.wrong("%s is named, and is excluded: %s", a.Label, x)
		}
	case verdict.TradeOff:
		fast, prompt := c.row(flatten(rec.Claim).Of), c.row(flatten(rec.Claim).Than)
		if !(*fast.Throughput.Median > *prompt.Throughput.Median && *prompt.Judged.Median < *fast.Judged.Median) {
			c.wrong("a trade-off of what is worse in both")
		}
	case verdict.NoDifference:
		for _, a := range c.compared() {
			if x := excluded(a); x == "slower" || x == "saturated" {
				c.wrong("%s is %s, and it does not matter", a.Label, x)
			}
		}
		for _, x := range rec.Reasons {
			if r := flatten(x); r.Code == "undecided_throughput" || r.Code == "undecided_p99" {
				c.wrong("%s is open, and it does not matter", r.Of.Setting)
			}
		}
		if rec.Confidence != verdict.Proven {
			c.wrong("it does not matter, and that is %s", rec.Confidence)
		}
	case verdict.Undecided:
		if len(marked) > 0 {
			c.wrong("nothing can be told, and %v are marked", marked)
		}
	}
	c.theDefault(rec)
}

// theDefault is reported to be worse only where its row is.
func (c *checker) theDefault(rec *verdict.Recommendation) {
	d := flatten(rec.Claim).Than
	if rec.Verdict != verdict.Recommended || d == nil {
		return
	}
	x, y := c.row(flatten(rec.Claim).Of), c.row(d)
	if x.Procs == nil {
		c.wrong("a value is to be set that no row has")
	}
	switch flatten(rec.Claim).Metric {
	case verdict.MetricThroughput:
		if !(*y.Throughput.Median < 0.95**x.Throughput.Median) {
			c.wrong("the default is called slower")
		}
	case verdict.MetricP99:
		if !(*y.Judged.Median > 1.2**x.Judged.Median) || excluded(x) == "load_on_cpus" {
			c.wrong("the default is called later")
		}
	}
}

// advice on throttling names no other value than the verdict.
func (c *checker) advice() {
	rec, t := &c.g.Recommendation, &c.g.Throttling
	if flatten(rec.Claim).Of == nil || t.Procs == nil || rec.Confidence != verdict.Proven || rec.Verdict != verdict.Recommended && rec.Verdict != verdict.KeepDefault {
		return
	}
	if *t.Procs != flatten(rec.Claim).Of.Procs {
		c.wrong("GOMAXPROCS %d is advised against throttling (%s), and the verdict names %d", *t.Procs, t.Advice, flatten(rec.Claim).Of.Procs)
	}
}
