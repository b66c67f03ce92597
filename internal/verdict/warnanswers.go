package verdict

import "github.com/procfit/procfit/internal/verdict/journal"

// The remarks that are made here.
type (
	// Unanswered is that requests of these settings were never answered.
	Unanswered struct {
		Count, Of int64
		Settings  []string
	}
	Redirects struct{ Count, Of int64 } // at least half of the answers were redirects
)

func (Unanswered) Code() Code { return "unanswered" }
func (Redirects) Code() Code  { return "redirects" }

// answers warns of requests that nobody answered and of answers that do no work.
func (n *notes) answers(i int, g *group, r *Group) {
	var lost Unanswered
	var moved Redirects
	for k := range r.Settings {
		a := &r.Settings[k]
		if unansweredMuch(g.Measured(g.Settings[k])) {
			lost.Count, lost.Of = lost.Count+a.Unanswered, lost.Of+a.Requests+a.Unanswered
			lost.Settings = append(lost.Settings, a.Label)
		}
		moved.Count, moved.Of = moved.Count+a.Redirects, moved.Of+a.Requests
	}
	n.when(len(lost.Settings) > 0, i, lost)
	n.when(moved.Count > 0 && 2*moved.Count >= moved.Of, i, moved)
}

// unansweredMuch reports that many of the requests of a phase were never answered: the many
// answers of one phase would hide those that another lacks.
func unansweredMuch(trials []*journal.Trial) bool {
	waiting, sent := map[journal.Mode]float64{}, map[journal.Mode]float64{}
	for _, t := range trials {
		for i := range t.Phases {
			if p := &t.Phases[i]; t.Valid {
				waiting[p.Mode] += float64(p.Unanswered)
				sent[p.Mode] += float64(p.Requests + p.Unanswered)
			}
		}
	}
	for mode, n := range waiting {
		if n > unansweredFew*sent[mode] {
			return true
		}
	}
	return false
}
