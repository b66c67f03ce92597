package page

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/stat"
)

func (w words) enough(valid int) string {
	if w.r.Plan.Racing() {
		return "allow " + moreFlag(w.r.Plan)
	}
	// As many blocks were invalid as there are valid trials too few.
	return fmt.Sprintf("use --repeats %d or more", max(6, w.r.Plan.Blocks+max(1, stat.FewestPairs-valid)))
}

// unshared is what helps against a hypervisor that takes the CPUs, readLogs against most else.
const (
	unshared = "use a machine that is not shared; in a cloud, one without CPU credits that can run out"
	readLogs = "read their output in logs/"
)

func invalidText(x verdict.Invalid, noun string) string {
	return fmt.Sprintf("%d of %s invalid; most common reason: %s", x.Count, phrase.Count(x.Of, noun), x.Reason)
}

func straysText(spread float64, metric string) string {
	return fmt.Sprintf("trials vary by %s in %s, too much to prove small differences", strayed(spread), metric)
}

func lossesText(list []verdict.ReasonMetricWorse) string {
	return phrase.And(phrase.Each(list, func(l verdict.ReasonMetricWorse) string {
		return fmt.Sprintf("%s is %.2f× that of %s (n %d)", l.Metric, 1+l.Change, l.Than.Setting, l.N)
	}))
}

// inTime is how requests are sent in time: without the other programs that use the CPUs, if there
// are any, else with more CPU time for the load generator.
func (w words) inTime() string {
	others := otherWay{}
	if o := w.Others; o.Matter && o.CPUs != nil {
		others.text = "stop other programs on this machine"
	}
	own := w.ownCPUs("give the load generator its own CPUs with --cpus load=LIST")
	if own.text == "" {
		return w.ways(others, otherWay{text: "use a lower --rate"}, otherWay{text: "run the load generator on another machine"})
	}
	return w.ways(others, own)
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
	if !x.Advised {
		return ""
	}
	return w.throttlingAdvice()
}

func ofPeriods(share float64) string { return number.Percent(share) + " of periods" }

// eachSetting is the settings with their metrics: "4 (63% of periods) and 8 (80% of periods)".
func eachSetting(settings []verdict.SettingFigure, figure func(float64) string) string {
	return phrase.And(phrase.Each(settings, func(a verdict.SettingFigure) string { return a.Label + " (" + figure(a.Value) + ")" }))
}
