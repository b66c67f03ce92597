package page

import (
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/journal"
)

func (w experiment) unreached(v *Verdict) {
	over := ""
	if e := w.End; e != nil && e.Code == journal.EndUnreached {
		over = ", so the canary ended"
	}
	next := []string{
		"let clients open new connections: restart them, or limit how long a connection lives (gRPC: MaxConnectionAge)",
		"use a proxy or a service mesh that distributes requests instead of connections",
		"use a headless Service whose clients distribute their requests over all its addresses",
		"if clients reconnect from time to time, use a longer --slice and --for: a canary ends when half of a round had too few requests",
	}
	lasted, service := phrase.Count(w.Canary.Slices, "slice"), serviceWords(w.Services)
	if w.Canary.PerRequest {
		v.Label, v.Answer.Text = "Too few requests", "Too few requests"
		v.Answer.Plain = fmt.Sprintf("Fewer than 1 req/s per canary pod arrived in %s%s: nothing was compared, because procfit cannot distinguish them from probes. Either clients keep their connections open and seldom reach new pods, or %s gets few requests.",
			lasted, over, service)
		next = slices.Insert(next, 0, "run the canary when "+service+" gets more requests: at least 1 req/s per pod")
		next = append(next, "measure copies under a load of procfit's own: procfit kube sweep")
	} else {
		v.Label, v.Answer.Text = "No requests", "No requests"
		v.Answer.Plain = fmt.Sprintf("No request reached the canary pods in %s%s: nothing was compared. Either clients keep their connections open and do not reach new pods, or %s gets no requests at all.",
			lasted, over, service)
	}
	v.Next = document.Items(next)
}

func serviceWords(list []journal.Service) string {
	if len(list) == 1 {
		return "Service " + list[0].Name
	}
	return phrase.Count(len(list), "Service")
}

func (w experiment) harm(h *journal.Harm) string {
	who, why := "GOMAXPROCS "+h.Setting, ""
	if h.Setting == canary.Control {
		who, why = "The control", " The control runs like the service, so a setting is not the cause."
	}
	switch h.Code {
	case journal.HarmEnded:
		return fmt.Sprintf("%s did not keep running, so the canary ended: %s.%s", who, h.Detail, why)
	case journal.HarmUnready:
		s := fmt.Sprintf("%s was not ready for %s, so the canary ended", who, number.Short(number.Seconds(canary.UnreadyMost.Seconds())))
		return phrase.Join(": ", s, h.Detail) + "." + why
	}
	return fmt.Sprintf("%s did harm, so the canary ended: %s. By chance alone, fewer than 1 canary in 100 ends like this.", who, w.above(h))
}

func (w experiment) above(h *journal.Harm) string {
	by := "above that of " + w.control() + ", which was 0,"
	if h.Ratio != nil {
		by = shortNumber(*h.Ratio, number.Digits) + " times that of " + w.control()
	}
	return fmt.Sprintf("%s was %s over %s. The margin is %s", w.name(h.Query), by, phrase.Count(h.Slices, "slice"), number.Percent(w.r.Plan.MarginP99))
}
