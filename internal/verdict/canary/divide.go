package canary

import (
	"fmt"
	"math"

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
// first, each in so many pods. serve is how many pods of the user's do; of all that
// then serve ours are no more than the share.
func Divide(values []*int, quota *float64, pods, serve int, share float64) ([][]journal.Setting, error) {
	var settings []journal.Setting
	for _, v := range values {
		if v != nil {
			settings = append(settings, SettingOf(v))
		}
	}
	if len(settings) == 0 {
		return nil, fmt.Errorf("--procs: want a number beside unset, which is the control anyway")
	}
	const hair = 1e-9 // 0.1/0.9 of 18 is not 2 in binary
	most := int(math.Floor(share/(1-share)*float64(serve) + hair))
	at := most/pods - 1 // beside a control
	if at < 1 {
		least := 2 * pods
		of := float64(least) / float64(serve+least)
		return nil, fmt.Errorf("%s of ours beside %s that serve would be %s of the endpoints, more than the share of %s: it takes %d that serve, or --share %g%%",
			phrase.Count(least, "pod"), phrase.Count(serve, "pod"), number.Percent(of), number.Percent(share), int(math.Ceil(float64(least)*(1-share)/share-hair)), math.Ceil(of*100))
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
