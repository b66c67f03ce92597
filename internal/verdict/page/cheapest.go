package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/contest"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// askedRate is the question: 300 requests per second with p99 within 50 ms.
func askedRate(c *verdict.Cheapest) string {
	return fmt.Sprintf("%s req/s with %s", shortNumber(c.RatePerSecond, number.Digits), objectiveBound(c.Objective))
}

func cheapestVerdict(r *verdict.Result) Verdict {
	c := r.Cheapest
	v := Verdict{State: document.Unknown, Label: "Undecided"}
	v.Context = phrase.Join(" · ", r.Host.CPUModel, number.CPUs(r.Host.EffectiveCPUs), phrase.Count(r.TrialsRun, "trial"), originWords(r.Origin))
	switch {
	case c.Answer != nil:
		v.State, v.Label = document.Act, "Cheapest"
		if c.Today != nil && sameSetting(c.Answer, c.Today) {
			v.State, v.Label = document.OK, "Change nothing"
		}
		v.Answer.Plain = fmt.Sprintf("%s %s %s%s.", phrase.Capital(settingOf(c.Answer)), verb(max(1, c.Answer.Replicas), "sustains", "sustain"), askedRate(c), saving(c))
		if c.Answer.Carries == verdict.CarriesLikely {
			v.State, v.Label = document.Attention, "Likely, but not proven"
			var why []string
			if c.Answer.Unseen {
				why = append(why, "procfit could not read the GOMAXPROCS that it ran with")
			}
			if r.Load.Tunnelled() {
				why = append(why, "the load came through the API server, which was measured too")
			}
			v.Answer.Plain += " This is likely, but not proven: " + phrase.And(why) + "."
		}
		if c.Open > 0 {
			v.Answer.Plain += fmt.Sprintf(" %s may do so with fewer CPUs: this is not proven yet.", phrase.Count(c.Open, "setting"))
		}
	case c.Open == 0 && len(c.Settings) > 0:
		v.State, v.Label = document.Attention, "No setting is enough"
		v.Answer.Plain = "None of the measured settings sustains " + askedRate(c) + "."
		v.Next = []document.Item{{Text: "use a lower --rate or a longer --slo, or measure higher --limit and more --replicas"}}
	default:
		v.Answer.Plain = "No setting is proven to sustain " + askedRate(c) + closest(c) + "."
		if stoppedBy(r, string(contest.StopTime)) {
			v.Answer.Plain += fmt.Sprintf(" The time of --for was over after %s.", phrase.Count(r.TrialsRun, "trial"))
		}
	}
	if c.Open > 0 {
		v.Next = []document.Item{measureMore(r)}
		if !r.Load.Tunnelled() && slices.ContainsFunc(r.Warnings, func(x verdict.Warning) bool { l, is := x.Remark.(verdict.LoadLimited); return is && 2*l.Trials > l.Of }) {
			v.elsewhere(r)
		}
	}
	v.unseen(r)
	if r.Load.Tunnelled() && len(c.Settings) > 0 {
		v.elsewhere(r)
	}
	v.Answer.Text = v.Label
	if c.Answer != nil {
		v.Answer.Text = phrase.Capital(settingOf(c.Answer))
		if c.Answer.Carries == verdict.CarriesLikely {
			v.Answer.Text = "Likely: " + lowerFirst(v.Answer.Text)
		}
	}
	return v
}

func (v *Verdict) elsewhere(r *verdict.Result) {
	v.Next = slices.Insert(v.Next, 0, words{&verdict.Group{}, r}.step(verdict.Step{Code: verdict.StepLoadElsewhere}))
}

// closest is the cheapest setting that met the rate in all of its trials; empty: none did.
func closest(c *verdict.Cheapest) string {
	i := slices.IndexFunc(c.Settings, func(s verdict.Priced) bool { return s.Promises(c.RatePerSecond) })
	if i < 0 {
		return ""
	}
	s := &c.Settings[i]
	text := fmt.Sprintf(", but %s probably does: it reached %s the rate in %s", settingOf(s), ofRate(*s.Capacity.Median, c), phrase.Count(s.Trials, "trial"))
	if s.Trials < stat.FewestPairs {
		text += fmt.Sprintf(", and a proof needs %d", stat.FewestPairs)
	}
	return text
}

func ofRate(capacity float64, c *verdict.Cheapest) string {
	return number.Significant(capacity/c.RatePerSecond, 2) + "×"
}

// unseen is what decides where procfit could not read the GOMAXPROCS of a setting; more trials
// decide only the others.
func (v *Verdict) unseen(r *verdict.Result) {
	all := r.Cheapest.Settings
	if !slices.ContainsFunc(all, func(s verdict.Priced) bool { return s.Unseen }) {
		return
	}
	if !slices.ContainsFunc(all, func(s verdict.Priced) bool { return s.Carries == verdict.CarriesMaybe && !s.Unseen }) {
		v.Next = nil
	}
	v.Next = append(v.Next, words{&verdict.Group{}, r}.step(verdict.Step{Code: verdict.StepSee}))
}

// measureMore continues a race that ended before its answer, with what it needs to decide
// about the open settings. Else it is a grid of twice the blocks that the settings have now.
func measureMore(r *verdict.Result) document.Item {
	if !swept(r) {
		return document.Item{Text: "measure more, with more --repeats"}
	}
	measure := func(trials int, command string) document.Item {
		return document.Item{Text: phrase.Join(", ", "measure more", takesAbout(trials, r.TrialSeconds)), Command: command}
	}
	if r.Plan.Racing() && (!r.Complete || stoppedBy(r, string(contest.StopTime)) || stoppedBy(r, string(contest.StopLimit))) {
		more := 0
		for i := range r.Cheapest.Settings {
			more += r.Cheapest.Settings[i].Lacks()
		}
		return measure(more, furthered(r, max(more, len(r.Plan.Settings))))
	}
	const forInterval = 6 // trials, at 95%
	blocks := 2 * forInterval
	for i := range r.Cheapest.Settings {
		blocks = max(blocks, 2*r.Cheapest.Settings[i].Trials)
	}
	return measure(blocks*(len(r.Plan.Settings)+len(r.Plan.Groups())), repeatCommand(r, blocks))
}

// settingOf is such as "2 replicas of 0.5 CPUs with GOMAXPROCS=1".
func settingOf(p *verdict.Priced) string {
	s := number.CPUs(p.CPUs)
	if p.QuotaCPUs == nil {
		s = "no limit (" + s + ")"
	}
	if p.Replicas > 1 {
		s = fmt.Sprintf("%d replicas of %s", p.Replicas, s)
	}
	if p.GoVersion != "" {
		s += ", Go " + goVersion(p.GoVersion)
	}
	if p.Procs == nil {
		return s + " with the default GOMAXPROCS"
	}
	return s + " with GOMAXPROCS=" + strconv.Itoa(*p.Procs)
}

func sameSetting(a, b *verdict.Priced) bool { return settingOf(a) == settingOf(b) }

func saving(c *verdict.Cheapest) string {
	if c.Today == nil || !(c.Today.TotalCPUs > 0) || sameSetting(c.Answer, c.Today) {
		return ""
	}
	first := "the setting that was named first (" + settingOf(c.Today) + ")"
	share := c.Answer.TotalCPUs / c.Today.TotalCPUs
	if math.Abs(share-1) < 0.005 {
		return ", with as many CPUs as " + first
	}
	return ", with " + number.Percent(share) + " of the CPUs of " + first
}

func pricedTable(c *verdict.Cheapest) document.Table {
	t := document.Table{Columns: []document.Column{
		{Head: "Setting", Short: "setting", Left: true}, {Head: "Total CPUs", Short: "CPUs"},
		{Head: "Throughput with " + objectiveBound(c.Objective) + ", req/s", Short: "req/s"},
		{Head: "Sustains " + shortNumber(c.RatePerSecond, number.Digits) + " req/s", Short: shortNumber(c.RatePerSecond, number.Digits) + " req/s", Left: true},
		{Head: "Trials", Short: "trials"},
	}}
	u := number.PerSecond("req")
	for i := range c.Settings {
		s := &c.Settings[i]
		row := document.Row{Cells: []document.Cell{{Value: settingOf(s)}, {Value: shortNumber(s.TotalCPUs, number.Digits)}, cell(u, s.Capacity), {Value: carriesWords(s, c)}, {Value: strconv.Itoa(s.Trials)}}}
		if journal.Unmet(s.Trials-s.Met, s.Trials) {
			row.Cells[2].Value = "below " + row.Cells[2].Value
		}
		if c.Answer != nil && sameSetting(s, c.Answer) {
			row.Mark = "cheapest"
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// carriesWords is whether a setting sustains the rate; of an open one, what keeps it open.
func carriesWords(s *verdict.Priced, c *verdict.Cheapest) string {
	if s.Capacity.Median == nil {
		return fmt.Sprintf("none of %d is valid", s.Invalid)
	}
	by := ", " + ofRate(*s.Capacity.Median, c)
	switch s.Carries {
	case verdict.CarriesIt:
		return "yes" + by
	case verdict.CarriesLikely:
		return "likely" + by
	case verdict.CarriesNot:
		return "no" + by
	}
	switch i := s.Capacity; {
	case s.Unseen:
		return "GOMAXPROCS not read"
	case s.Met < s.Trials:
		return fmt.Sprintf("%d of %d missed it", s.Trials-s.Met, s.Trials)
	case i.Low != nil && i.High != nil:
		return "maybe, " + ofRate(*i.Low, c) + " to " + ofRate(*i.High, c)
	case s.Promises(c.RatePerSecond):
		return "probably" + by
	}
	return "probably not" + by
}
