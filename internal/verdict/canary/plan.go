// Package canary compares settings of GOMAXPROCS under the real traffic of a Service. A few
// canary pods join the pods of the user behind the Service, each with one setting. One
// setting is the control: it is that of the user's pods, in pods as new as the others.
//
// [Divide] decides how many pods there may be, and whether all settings run at the same
// time or one after the other, each next to a control. A [Run] has a [Place] that makes
// them, counts by slices of time, and ends at the first harm. The journal is that of any
// sweep: a slice is a block with one trial of each setting. [Analyze] makes a [Result] of
// it: it compares every setting with the control of the same slice, so that changes of the
// traffic affect both.
//
// Connections that clients keep open do not move to new pods. While no request has reached
// any of the pods, by their requests or their CPU time, the canary reports it after
// [ToldAfter] slices, and ends the run after half of a round: there is nothing to compare.
//
// A query whose value is above that of the control ends the run, by a test that may be
// looked at after every slice. Simulated with equal pods, at most one canary in 100 ends.
//
// Limits: the package does not correct traffic that is spread unevenly, for example over
// connections that clients keep for hours (compare the requests of each setting), nor the
// effect of a pod's node; the pods of a run therefore share one. A run that ended cannot be
// resumed, because its pods and its traffic belong to another time.
package canary

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Control is what the control is called: GOMAXPROCS is not set in it.
const Control = "unset"

// SettingOf is the setting of a value; nil is the control.
func SettingOf(procs *int) journal.Setting {
	if procs == nil {
		return journal.Setting{Label: Control, Replicas: 1}
	}
	return journal.Setting{Label: fmt.Sprint(*procs), Procs: procs, Replicas: 1}
}

// Divide makes rounds of the values: which settings are there at once, the control
// first, each in N pods. serve is how many pods of the user's do; of all that
// then serve ours are no more than the share.
func Divide(values []*int, quota *float64, pods, serve int, share float64) ([][]journal.Setting, error) {
	var settings []journal.Setting
	for _, v := range values {
		if v != nil {
			settings = append(settings, SettingOf(v))
		}
	}
	if len(settings) == 0 {
		return nil, fmt.Errorf("--procs: expected at least one number; unset is always measured, as the control")
	}
	const hair = 1e-9 // 0.1/0.9 of 18 is not 2 in binary
	most := int(math.Floor(share/(1-share)*float64(serve) + hair))
	at := most/pods - 1 // beside a control
	if at < 1 {
		least := 2 * pods
		of := float64(least) / float64(serve+least)
		return nil, fmt.Errorf("%s next to %s would be %s of the endpoints, more than the share of %s: at least %d pods must serve, or use --share %g%%",
			phrase.Count(least, "canary pod"), phrase.Count(serve, "serving pod"), number.Percent(of), number.Percent(share), int(math.Ceil(float64(least)*(1-share)/share-hair)), math.Ceil(of*100))
	}
	var rounds [][]journal.Setting
	for len(settings) > 0 {
		n := min(at, len(settings))
		round := append([]journal.Setting{SettingOf(nil)}, settings[:n]...)
		for i := range round {
			round[i].Replicas, round[i].QuotaCPUs = pods, quota
		}
		rounds = append(rounds, round)
		settings = settings[n:]
	}
	return rounds, nil
}

// Requests is the name of the query that tells how many requests a setting served in a
// slice. All others tell a metric of which less is better.
const Requests = "requests"

// What is in a query for the pods of a setting, as a regular expression, and for the
// length of a slice.
const (
	podsPlaceholder  = "$pods"
	slicePlaceholder = "$slice"
)

var queryName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// ParseQuery reads NAME=QUERY.
func ParseQuery(s string) (journal.Query, error) {
	name, text, ok := strings.Cut(s, "=")
	q := journal.Query{Name: strings.TrimSpace(name), Text: strings.TrimSpace(text)}
	switch {
	case !ok || !queryName.MatchString(q.Name) || q.Text == "":
		return q, fmt.Errorf("%q: expected NAME=QUERY, for example p99='histogram_quantile(0.99, …{pod=~\"$pods\"}…)'", s)
	case slices.Contains(own, q.Name):
		return q, fmt.Errorf("%q: %s is the name of a metric that procfit always counts: choose another name", s, q.Name)
	case !strings.Contains(q.Text, podsPlaceholder):
		return q, fmt.Errorf("%q: %s must be in it, for the pods of a setting: {pod=~\"$pods\"}; in a shell, use single quotes", s, podsPlaceholder)
	}
	return q, nil
}

// asked is the query for some pods. Names of pods hold nothing that a regular expression
// knows but dots, which ours have none of.
func asked(q journal.Query, pods []string, slice time.Duration) string {
	return strings.NewReplacer(podsPlaceholder, strings.Join(pods, "|"), slicePlaceholder, fmt.Sprintf("%ds", int(slice.Seconds()))).Replace(q.Text)
}

// Rehearsal is the query for a pod that there is not: what is wrong with it is known
// before any is.
func Rehearsal(q journal.Query, slice time.Duration) string {
	return asked(q, []string{"procfit-rehearsal"}, slice)
}
