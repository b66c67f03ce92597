package page

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/fleet"
)

// Fleet is what a terminal gets of a run over a fleet: a row for each service, and below what
// is to be done or to be known about some of them. propose is the command that makes a branch
// of the changes.
func Fleet(o *fleet.Outcome, propose string) *document.Document {
	d := fleetPage(o, o.Folder)
	d.Closing = fleetClosing(o, propose)
	return d
}

// fleetPage leads to the reports of the services from a folder.
func fleetPage(o *fleet.Outcome, from string) *document.Document {
	d := &document.Document{
		Title: "Fleet of " + phrase.Count(len(o.Services), "service"), Date: document.Date(o.Started),
		Blocks: []document.Block{fleetAnswer(o), fleetTable(o)},
	}
	for i := range o.Services {
		d.Add(serviceNotes(o, &o.Services[i], from)...)
	}
	return d
}

func fleetAnswer(o *fleet.Outcome) document.Panel {
	of := o.Count
	differ := of((*fleet.Service).Differs)
	moved := of(func(s *fleet.Service) bool { return s.Since != nil && s.Since.Moved })
	worse := of(func(s *fleet.Service) bool { return s.Since != nil && len(s.Since.Worse) > 0 })
	failing := of(func(s *fleet.Service) bool { return s.Since != nil && len(s.Since.Failing) > 0 })
	failed := of(func(s *fleet.Service) bool { return s.Failed != "" })
	p := document.Panel{Name: "Answer", Tone: document.OK, Label: "Nothing to change", Level: 2}
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, phrase.CountOf(n, one, many))
		}
	}
	add(differ, "service should use another value than its manifest has", "services should use another value than their manifests have")
	add(moved, "service has another proven value than the last time", "services have another proven value than the last time")
	add(worse, "service is proven worse than the last time", "services are proven worse than the last time")
	add(failing, "service has failing trials, which it did not have the last time", "services have failing trials, which they did not have the last time")
	add(failed, "service has no result", "services have no result")
	switch {
	case differ > 0:
		p.Tone, p.Label = document.Act, "To change"
	case moved+worse+failing > 0:
		p.Tone, p.Label = document.Attention, "To look at"
	case failed > 0:
		p.Tone, p.Label = document.Unknown, "Not complete"
	}
	p.Sentence = "No service is proven to need another value"
	if len(parts) > 0 {
		p.Sentence = phrase.Semicolons(parts)
	}
	p.Sentence += "."
	return p
}

func fleetTable(o *fleet.Outcome) document.Table {
	t := document.Table{Columns: []document.Column{
		{Head: "Service", Short: "service", Left: true},
		{Head: "Manifest has", Short: "has", Left: true},
		{Head: "Verdict", Short: "verdict", Left: true},
		{Head: "Since the last time", Short: "since last time", Left: true},
		{Head: "Machine", Short: "machine", Left: true, Least: 12},
	}}
	for i := range o.Services {
		s := &o.Services[i]
		row := document.Row{Cells: []document.Cell{{Value: s.Name}, {Value: manifestHas(s)}, {Value: briefly(s)}, {Value: sinceThen(s)}, {Value: s.Machine}}}
		if s.Result != nil {
			row.Link = reportOf(s)
			row.Cells[2].To = row.Link
		}
		if s.Changed() {
			row.Mark = phrase.If(s.Differs(), "to change", "to look at")
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// reportOf is the report of the service, from the page.
func reportOf(s *fleet.Service) string { return path.Join(s.Folder, "report.html") }

func manifestHas(s *fleet.Service) string {
	if s.Manifest == nil {
		return "no manifest"
	}
	return s.Manifest.Text
}

func briefly(s *fleet.Service) string {
	switch {
	case s.Result == nil:
		return "no result"
	case len(s.Result.Groups) != 1:
		return "several: see its report"
	}
	text := VerdictOf(s.Result).Answer.Brief
	if s.Verdict == verdict.KeepDefault && s.Procs != nil {
		text += fmt.Sprintf(" (%d)", *s.Procs)
	}
	if s.AsGood() {
		text += fmt.Sprintf("; %d is as good", *s.Manifest.Procs)
	}
	return text
}

func sinceThen(s *fleet.Service) string {
	switch then := s.Since; {
	case s.Result == nil:
		return ""
	case then == nil:
		return "first result here"
	case then.Moved && len(then.Worse) > 0:
		return fmt.Sprintf("was %d; worse", *then.Procs)
	case then.Moved:
		return fmt.Sprintf("was %d", *then.Procs)
	case len(then.Worse) > 0:
		return "worse"
	case len(then.Failing) > 0:
		return "trials fail"
	case strings.HasPrefix(then.NotCompared, "latency,"):
		return "latency not compared"
	case then.NotCompared != "":
		return "not compared"
	}
	return "not proven worse"
}

func serviceNotes(o *fleet.Outcome, s *fleet.Service, from string) []document.Block {
	var notes document.Notes
	say := func(quiet bool, message string) { notes = append(notes, document.Note{Quiet: quiet, Message: message}) }
	if s.Failed != "" {
		say(false, "no result: "+s.Failed)
	}
	if then := s.Since; then != nil {
		day := then.Started.UTC().Format(time.DateOnly)
		if then.Moved {
			say(false, fmt.Sprintf("the proven value is %d; on %s it was %d", *s.Procs, day, *then.Procs))
		}
		for _, l := range then.Worse {
			say(false, fmt.Sprintf("%s of %s, as a ratio to the default: %s since %s", gateMetric(l.Metric, l.Quantile), l.Setting, lossNote(l.Metric, l.Ratio, l.Bound, l.Margin, l.N), day))
		}
		if then.NotCompared != "" {
			say(len(then.Failing) == 0, "not compared with the result of "+day+": "+then.NotCompared)
		}
	}
	if s.Differs() {
		v := VerdictOf(s.Result)
		say(true, v.Answer.Sentence())
		m := s.Manifest
		at := fmt.Sprintf("%s, container %s of %s", m.Path, m.Container, m.Object)
		switch p := s.Proposed; {
		case p == nil:
			say(true, fmt.Sprintf("%s has %s", at, m.Text))
		case p.Refused != "":
			say(false, fmt.Sprintf("GOMAXPROCS=%d is not proposed for %s: %s", *s.Procs, at, p.Refused))
		default:
			say(true, fmt.Sprintf("branch %s sets GOMAXPROCS=%d in %s, which has %s (commit %s)", o.Branch, *s.Procs, at, m.Text, p.Commit[:min(12, len(p.Commit))]))
		}
		say(true, v.Context)
	}
	if len(notes) == 0 {
		return nil
	}
	list := []document.Block{document.Heading{Level: 2, Text: s.Name}, notes}
	if s.Result != nil {
		list = append(list, document.Links{{Text: "the report of " + s.Name, To: path.Join(from, reportOf(s))}})
	}
	return list
}

// fleetClosing is how a reader continues: with the branch that there is, or by making it.
func fleetClosing(o *fleet.Outcome, propose string) []document.Block {
	differ := func(s *fleet.Service) bool { return s.Differs() && s.Proposed == nil }
	switch {
	case o.Branch != "":
		return []document.Block{document.Code{Title: "Next, look at the branch", Text: "git log -p HEAD.." + phrase.ShellWord(o.Branch)}}
	case o.Count(differ) > 0 && propose != "":
		return []document.Block{document.Code{Title: "Next, propose the changes on a branch", Text: propose}}
	}
	return nil
}

// WriteFleet writes the page of all services into a folder that exists, and returns the
// paths, the one to open first at the head.
func WriteFleet(dir string, o *fleet.Outcome) ([]string, error) {
	d := fleetPage(o, "")
	d.Add(document.Heading{Level: 2, Text: "About this page"}, document.Pairs{
		{Name: "Services from", Value: o.File}, {Name: "Commit", Value: o.Commit}, {Name: "Results in", Value: o.Folder},
	}, document.Text{Text: "A service is compared with its last result on the same machine: its value, and what each value gains over the default in its own run. What all values lose together from one time to the next is not seen.", Style: document.Small})
	report, err := html.Render(d)
	if err != nil {
		return nil, err
	}
	b, err := FleetJSON(o)
	if err != nil {
		return nil, err
	}
	return folder.Write(dir,
		folder.File{Name: "report.html", Mode: folder.Shared, Content: report},
		folder.File{Name: "RESULTS.md", Mode: folder.Shared, Content: markdown.Render(d)},
		folder.File{Name: "fleet.json", Mode: folder.Shared, Content: b})
}

// FleetJSON is fleet.json.
func FleetJSON(o *fleet.Outcome) ([]byte, error) {
	return indented(o, "the results of the fleet")
}
