package agree

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/paired"
	"github.com/procfit/procfit/test/must"
)

// level is what of a figure is compared.
type level struct {
	Mean *float64 `json:"mean"`
}

// sweep is what of a sweep's result.json is compared.
type sweep struct {
	Groups []struct {
		Rate    *float64 `json:"rate_per_second"`
		Default struct {
			Procs *int `json:"procs"`
		} `json:"default"`
		Values []struct {
			Procs      *int  `json:"procs"`
			Throughput level `json:"throughput_per_second"`
			Latency    level `json:"latency_seconds"`
		} `json:"values"`
		Settings []struct {
			Procs   *int `json:"resolved_procs"`
			OpenCPU struct {
				PerRequest *float64 `json:"cpu_seconds_per_request"`
			} `json:"open_loop_evidence"`
		} `json:"settings"`
		Recommendation struct {
			Verdict    verdict.Verdict    `json:"verdict"`
			Confidence verdict.Confidence `json:"confidence"`
			Procs      *int               `json:"procs"`
			Cause      string             `json:"cause"`
		} `json:"recommendation"`
	} `json:"groups"`
}

// lived is what of a live experiment's is.
type lived struct {
	Live struct {
		Settings []struct {
			Procs   *int                   `json:"procs"`
			Came    string                 `json:"outcome"`
			Left    int                    `json:"left"`
			Figures []verdict.CanaryFigure `json:"metrics"`
			Slices  int                    `json:"slices"`
		} `json:"settings"`
	} `json:"live"`
}

// answer is what one of both says of a value, compared with the value at start.
type answer string

const (
	good  answer = "good"
	same  answer = "same"
	bad   answer = "bad"
	mixed answer = "mixed"
	open  answer = "open"
)

// relation is of two answers.
type relation string

const (
	agree    relation = "agree"
	disagree relation = "**disagree**"
	oneOpen  relation = "one is open"
)

// relate says whether both would let a user take the value.
func relate(a, b answer) relation {
	fine := func(x answer) bool { return x == good || x == same }
	switch {
	case a == open || b == open:
		return oneOpen
	case fine(a) == fine(b):
		return agree
	}
	return disagree
}

// row is one value of a program.
type row struct {
	program               string
	start, value          int
	rate                  float64
	live, liveCPU, liveP  string
	sweep, sweepT, sweepP string
	relation
}

func (r row) String() string {
	return fmt.Sprintf("| %s | %d → %d | %.0f | %s | %s | %s | %s | %s | %s | %s |", r.program, r.start, r.value, r.rate, r.live, r.liveCPU, r.liveP, r.sweep, r.sweepT, r.sweepP, r.relation)
}

func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| program | value | req/s | live | CPU per request | p99 | sweep | throughput | latency | |\n|---|---|---:|---|---:|---:|---|---:|---:|---|\n")
	for _, r := range rows {
		fmt.Fprintln(&b, r)
	}
	fmt.Fprintf(&b, "\n%d agree, %d disagree; in %d one is open\n", count(rows, agree), count(rows, disagree), count(rows, oneOpen))
	return b.String()
}

func count(rows []row, x relation) (n int) {
	for _, r := range rows {
		if r.relation == x {
			n++
		}
	}
	return n
}

func compare(t *testing.T, p program, v int, live, swept asked) row {
	t.Helper()
	var l lived
	var s sweep
	for b, to := range map[*json.RawMessage]any{&live.Result: &l, &swept.Result: &s} {
		must.OK(t, json.Unmarshal(*b, to))
	}
	r := row{program: p.name, start: p.start, value: v, rate: live.Rate}
	r.relation = relate(l.of(&r, v), s.of(&r))
	return r
}

// of is what the live experiment says of the value.
func (l lived) of(r *row, v int) answer {
	for _, s := range l.Live.Settings {
		if s.Procs == nil || *s.Procs != v || s.Came == "" {
			continue
		}
		r.live = s.Came
		for _, f := range s.Figures {
			text := change(f.Ratio.Median, f.Ratio.Low, f.Ratio.High)
			switch f.Name {
			case paired.FigureCPU:
				r.liveCPU = text
			case paired.FigureP99:
				r.liveP = text
			}
		}
		switch paired.Outcome(s.Came) {
		case paired.Better:
			return good
		case paired.Same:
			return same
		case paired.Worse, paired.Left:
			return bad
		case paired.Mixed:
			return mixed
		}
		return open
	}
	return open
}

// of is what the sweep says of the value.
func (s sweep) of(r *row) answer {
	g := s.Groups[0]
	var is, was [2]*float64
	for _, v := range g.Values {
		if v.Procs != nil && *v.Procs == r.value {
			is = [2]*float64{v.Throughput.Mean, v.Latency.Mean}
		}
		if v.Procs != nil && *v.Procs == r.start {
			was = [2]*float64{v.Throughput.Mean, v.Latency.Mean}
		}
	}
	ratio := func(i int) string {
		if is[i] == nil || was[i] == nil {
			return "–"
		}
		return percent(*is[i] / *was[i])
	}
	rec := g.Recommendation
	r.sweepT, r.sweepP = ratio(0), "–"
	if rec.Verdict != verdict.Undecided { // else it is of one to three trials
		r.sweepP = ratio(1)
	}
	named := rec.Procs
	if named == nil && rec.Verdict == verdict.KeepDefault {
		named = g.Default.Procs
	}
	switch {
	case named != nil:
		r.sweep = fmt.Sprint(*named)
	case rec.Verdict == verdict.Undecided:
		r.sweep = "undecided"
	default:
		r.sweep = strings.ReplaceAll(string(rec.Verdict), "_", " ")
	}
	switch {
	case rec.Confidence == verdict.Likely:
		r.sweep += ", likely"
	case rec.Cause == "too_few_cpus":
		r.sweep += ": other programs"
	}
	switch rec.Verdict {
	case verdict.NoDifference:
		return same
	case verdict.TradeOff:
		return mixed
	case verdict.Recommended, verdict.KeepDefault:
		switch {
		case named == nil:
		case *named == r.value:
			return good
		case *named == r.start || r.value < *named: // it names the smallest good value
			return bad
		}
	}
	return open
}

func change(mean, low, high *float64) string {
	if mean == nil || low == nil || high == nil {
		return "–"
	}
	return fmt.Sprintf("%s [%s, %s]", percent(*mean), percent(*low), percent(*high))
}

func percent(ratio float64) string {
	if math.IsInf(ratio, 0) || ratio > 10 {
		return "more than 10×"
	}
	if ratio >= 2 {
		return fmt.Sprintf("%.1f×", ratio)
	}
	return strings.Replace(fmt.Sprintf("%+.0f%%", 100*(ratio-1)), "-", "−", 1)
}
