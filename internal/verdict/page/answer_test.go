package page_test

import (
	"cmp"
	"strings"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// mostWords of a sentence on the first screen, and of the answer itself.
const (
	mostWords  = 30
	answerRoom = 5
)

// answer holds the first screen against the table: it is short, and what it says of the
// change is what the two rows show.
func (c *checker) answer() {
	a := c.said.Answer
	if n := len(strings.Fields(a.Text)); n == 0 || n > answerRoom {
		c.wrong("the answer has %d words: %q", n, a.Text)
	}
	for _, sentence := range strings.SplitAfter(a.Plain, ". ") {
		if n := len(strings.Fields(sentence)); n > mostWords {
			c.wrong("a sentence of %d words: %q", n, sentence)
		}
	}
	rec := &c.g.Recommendation
	if (a.Apply != "") != (len(c.view.Snippets) > 0 && rec.Procs != nil) {
		c.wrong("%q is to be typed and %d snippets to be pasted", a.Apply, len(c.view.Snippets))
	}
	v := rec.Versus
	if v == nil {
		return
	}
	before, after := c.procs(v.DefaultProcs), c.procs(v.Procs)
	if before == nil || after == nil {
		c.wrong("%d or %d is in no row", v.DefaultProcs, v.Procs)
		return
	}
	c.ratio("throughput", v.Throughput, before.Throughput, after.Throughput)
	c.ratio("latency", v.Latency, before.Judged, after.Judged)
}

// ratio holds a ratio against the two rows that it is of.
func (c *checker) ratio(name string, r, before, after stat.Interval) {
	if r.Median == nil || before.Median == nil || after.Median == nil || *before.Median == 0 {
		return
	}
	if shown := *after.Median / *before.Median; *r.Median < 0.98*shown || *r.Median > 1.02*shown {
		c.wrong("%s is said to change by %.3f, the rows by %.3f", name, *r.Median, shown)
	}
	if r.Low != nil && (*r.Low > *r.Median || *r.High < *r.Median) {
		c.wrong("%s: %.3f is not in %.3f to %.3f", name, *r.Median, *r.Low, *r.High)
	}
}

// procs is the row of a number of Ps.
func (c *checker) procs(n int) *verdict.Row {
	for i := range c.g.Rows {
		if a := &c.g.Rows[i]; a.Variant == "" && stat.OrZero(cmp.Or(a.Procs, a.ResolvedProcs)) == n {
			return &c.g.Rows[i]
		}
	}
	return nil
}
