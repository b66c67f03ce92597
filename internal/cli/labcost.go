package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/procfit/procfit/internal/phrase"
)

// after is the expected time of all that follows a stage.
func (r *labRun) after(item, stage int) (d time.Duration) {
	for i := item; i < len(r.items); i++ {
		for j, l := range r.items[i].stages {
			if i > item || j > stage {
				d += l.cost()
			}
		}
	}
	return d
}

func (l *labStage) cost() time.Duration { return l.each * time.Duration(l.trials) }

// cost is in words what the run will take.
func (r *labRun) cost() string {
	trials, stages, unknown := 0, 0, false
	for _, item := range r.items {
		for _, l := range item.stages {
			if l.session != nil {
				stages++
				trials += l.trials
				unknown = unknown || l.each == 0 && l.trials > 0
			}
		}
	}
	s := fmt.Sprintf("lab: %s in %s, %s", phrase.Count(len(r.items), "experiment"), phrase.Count(stages, "sweep"), phrase.Count(trials, "trial"))
	switch d := r.after(0, -1); {
	case unknown && d == 0:
		s += "; the first ones will tell how long it takes"
	case unknown:
		s += ", more than " + phrase.Minutes(d)
	default:
		s += ", about " + phrase.Minutes(d)
	}
	return s + "; results in " + r.out
}

// printPlan is --dry-run.
func (r *labRun) printPlan() error {
	w := tabwriter.NewWriter(r.io.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "EXPERIMENT\tSWEEP\tGOMAXPROCS\tGROUPS\tTRIALS\tABOUT\n")
	for _, item := range r.items {
		for _, l := range item.stages {
			if l.session == nil {
				fmt.Fprintf(w, "%s\t%s\tnot to be run: %s\n", item.ID, l.ID, l.ran.NotRun)
				continue
			}
			about := "–"
			if l.each > 0 {
				about = phrase.Minutes(l.cost())
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\n", item.ID, l.ID, strings.Join(labels(l.session.Plan), ","), len(l.session.Plan.AA), l.trials, about)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(r.io.out, r.cost())
	return err
}
