package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/sorting"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// unshared is what helps against a hypervisor that takes the CPUs, readLogs against most else.
const (
	unshared = "use a machine that is not shared; in a cloud, one without CPU credits that can run out"
	readLogs = "read their output in logs/"
)

func invalidText(x verdict.Invalid, which string) string {
	return fmt.Sprintf("%d of %s invalid%s; most common reason: %s", x.Count, phrase.Count(x.Of, "trial"), which, x.Reason)
}

func straysText(spread float64, metric string) string {
	return fmt.Sprintf("trials vary by %s in %s, too much to prove small differences", strayed(spread), metric)
}

// unread is why the live values were not read; more permissions help only if they were missing.
func (w words) unread(x verdict.ProcsUnread) (text, fix string) {
	text, fix = "the GOMAXPROCS value that the program really used could not be read: "+phrase.And(x.Settings), "measure the Go binary itself, and for long enough to be read"
	if x.Why != "" {
		text += "; " + x.Why
	}
	if strings.Contains(x.Why, "permission denied") {
		fix = "measure as the same user, with the permission that the reason names"
	}
	if w.r.Canary != nil {
		fix = "find out why procfit could not read it in the pods: the warnings of the trials have the reason"
	}
	return text, fix
}

func (w words) notProfiled(x verdict.NotProfiled) (text, fix string) {
	const handler = ": import _ \"net/http/pprof\", and go http.ListenAndServe(\"127.0.0.1:6060\", nil) in main"
	const address = "http://127.0.0.1:6060/debug/pprof/"
	fix = "read what the program printed in logs/, and run the same command again: only the profile is missing"
	switch {
	case x.Serving && w.had("profile", address):
		fix = "serve them at that address" + handler
	case x.Serving:
		fix = "serve them" + handler + "; then measure with --profile=" + address
	}
	return fmt.Sprintf("GOMAXPROCS %s was not profiled, or not completely: %s", x.Setting, x.Why), fix
}

// adviceOf is the group's advice on throttling, which is with one warning.
func (w words) adviceOf(x verdict.Throttled) string {
	return phrase.If(x.Advised, w.throttlingAdvice(), "")
}

func ofPeriods(share float64) string { return number.Percent(share) + " of periods" }

// eachSetting is the settings with their metrics: "4 (63% of periods) and 8 (80% of periods)".
func eachSetting(settings []verdict.SettingFigure, figure func(float64) string) string {
	return phrase.And(phrase.Each(settings, func(a verdict.SettingFigure) string { return a.Label + " (" + figure(a.Value) + ")" }))
}

type warned struct {
	of   verdict.Remark // by which its weight is known
	part int            // that it is about; -1: the run as a whole
	note document.Note
}

func warningsOf(r *verdict.Result, parts int) (list []warned) {
	for i := range r.Warnings {
		w := &r.Warnings[i]
		if _, incomplete := w.Remark.(verdict.Incomplete); incomplete && incompleteText(r) != "" {
			continue // which says it, at the head
		}
		a, of := warn(r, w), warned{of: w.Remark, part: -1}
		of.note = document.Note{Message: a.text, Fix: a.fix}
		if w.Group != nil && *w.Group >= 0 && *w.Group < parts {
			of.part = *w.Group
		}
		list = append(list, of)
	}
	return list
}

func notesOf(list []warned, part int) (notes document.Notes) {
	for _, w := range list {
		if w.part == part {
			notes = append(notes, w.note)
		}
	}
	return notes
}

// heavy are the warnings that may turn an answer into none, the heaviest first. The others
// explain what the answer is of.
var heavy = []verdict.Remark{verdict.NoGo{}, verdict.ProcsUnread{}, verdict.OthersBusy{}, verdict.InvalidPilots{}, verdict.Overloaded{}, verdict.InvalidTrials{}, verdict.DefaultVaries{},
	verdict.UnsetPerformsApart{}, verdict.Steal{}, verdict.Noisy{}, verdict.NoisyP99{}, verdict.SentLate{}, verdict.LoadLimited{},
	verdict.FewBlocks{}, verdict.MetricsWorse{}, verdict.SharedMachine{}}

// heaviest are as many as a terminal has room for, and how many more the report has.
func heaviest(r *verdict.Result, list []warned, parts int) document.Notes {
	const room = 10 // lines of 80 columns
	rank := func(w warned) int {
		if i := slices.IndexFunc(heavy, func(x verdict.Remark) bool { return x.Code() == w.of.Code() }); i >= 0 {
			return i
		}
		return len(heavy)
	}
	lines := func(text string) int { return (utf8.RuneCountInString(text) + 69) / 70 } // words are not broken
	var notes document.Notes
	used := 0
	for _, w := range sorting.Sorted(list, func(a, b warned) int { return cmp.Compare(rank(a), rank(b)) }) {
		n := w.note
		if w.part >= 0 && parts > 1 {
			n.Subject = groupKey(r, w.part)
		}
		used += lines(n.Subject+n.Message) + lines(n.Fix)
		if len(notes) > 0 && used > room {
			break
		}
		notes = append(notes, n)
	}
	if more := len(list) - len(notes); more > 0 {
		notes = append(notes, document.Note{Quiet: true, Message: phrase.CountOf(more, "more remark is", "more remarks are") + " in report.html"})
	}
	return notes
}

func warn(r *verdict.Result, w *verdict.Warning) wording {
	of := &verdict.Group{}
	if w.Group != nil && *w.Group >= 0 && *w.Group < len(r.Groups) {
		of = &r.Groups[*w.Group]
	}
	return words{of, r}.say(w.Remark)
}

// trialWarnings are what a journal says of one trial.
var trialWarnings = map[journal.WarningCode]string{
	journal.WarnLoadLimited:    "the load generator's busiest thread used {percent} of a CPU: it may have been the limit",
	journal.WarnLoadTook:       "the load generator took {cpus} of a machine that had no idle CPUs",
	journal.WarnSaturated:      "answered {rounded down} of the offered rate",
	journal.WarnSentLate:       "the load generator itself sent requests late: {seconds} at p99",
	journal.WarnProcsUnproven:  "the GOMAXPROCS value in use could not be read",
	journal.WarnNoGo:           "none of the target's processes is a Go program",
	journal.WarnProcsChanged:   "GOMAXPROCS changed{from to}",
	journal.WarnKilled:         "did not end within {seconds} of SIGTERM and was killed",
	journal.WarnCounters:       "the kernel's counters could not be read",
	journal.WarnQuery:          "a query returned nothing",
	journal.WarnFailedRequests: "{requests} failed{phase}",
	journal.WarnUnanswered:     "{requests} without a response at the end{phase}",
	journal.WarnLatencyClock:   "its latency is not judged, because it is counted from the actual send time, and sending waits for a free connection",
	journal.WarnRedirects:      "{responses} (3xx){phase}",
	journal.WarnNoResult:       "the output has no result of {benchmarks}, which are in no number here",
}

func trialWarning(w *journal.Warning) string {
	value, change := stat.OrZero(w.Value), " during the trial"
	if w.From != nil && w.To != nil {
		change = fmt.Sprintf(" from %d to %d", *w.From, *w.To)
	}
	text := strings.NewReplacer(
		"{percent}", number.Percent(value), "{rounded down}", percentDown(value), "{cpus}", number.CPUsUsed(value), "{seconds}", number.Short(number.Seconds(value)),
		"{requests}", phrase.Count(w.Count, "request"), "{responses}", phrase.CountOf(w.Count, "response was a redirect", "responses were redirects"), "{benchmarks}", phrase.Count(w.Count, "benchmark"),
		"{phase}", phases[w.Phase], "{from to}", change,
	).Replace(cmp.Or(trialWarnings[w.Code], string(w.Code)))
	detail := w.Detail
	if w.Code == journal.WarnFailedRequests { // a kind of error: no_response
		detail = strings.ReplaceAll(detail, "_", " ")
	}
	return phrase.Join(": ", text, detail)
}

var phases = map[journal.Mode]string{journal.ModeClosed: " in the throughput phase", journal.ModeOpen: " in the latency phase"}

// MostInvalid is the reason of most of the invalid trials.
func MostInvalid(r *verdict.Result) string {
	n, why := map[string]int{}, ""
	for _, g := range r.Groups {
		for _, a := range g.Settings {
			for _, x := range a.InvalidReasons {
				if n[x.Reason] += x.Count; n[x.Reason] > n[why] {
					why = x.Reason
				}
			}
		}
	}
	return why
}
