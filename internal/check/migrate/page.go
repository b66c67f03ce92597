package migrate

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Page shows a Report, in a terminal or in a browser.
func (r *Report) Page() *document.Document {
	d := &document.Document{Title: "Migrate " + phrase.Clean(r.Module.Path) + " from automaxprocs"}
	d.Add(r.answer())
	if steps := r.steps(); len(steps.Items) > 0 {
		d.Add(steps)
	}
	d.Add(r.facts())
	d.Add(r.importTable()...)
	if len(r.Workloads) > 0 {
		d.Add(document.Heading{Level: 2, Text: "Workloads"}, workloadTable(r.Workloads))
	}
	d.Add(r.limitTables()...)
	d.Add(r.proofs()...)
	if notes := r.notes(); len(notes) > 0 {
		d.Add(document.Heading{Level: 2, Text: "Notes"}, notes)
	}
	return d
}

// Answer is what the whole comes to, in a sentence.
func (r *Report) Answer() string {
	changed, unknown := r.Changes()
	n, missing := len(r.Workloads), ""
	if names := r.missing(); len(names) > 0 {
		missing = " No container is known to run " + phrase.Or(names) + ": name those that do with --container."
	}
	switch {
	case !r.Runs() && len(r.Module.Imports) == 0 && len(r.Problems) > 0:
		return "Whether a program of this module runs automaxprocs is not known."
	case !r.Runs() && len(r.Module.Imports) == 0:
		return "No package of this module, and none that it depends on, is known to import automaxprocs."
	case r.unvendored:
		return fmt.Sprintf("automaxprocs is removed, %s changed, and go.mod is tidy, but the vendor folder is not up to date, so the module may not build.", phrase.CountOf(len(r.Fixed), "file is", "files are"))
	case len(r.Fixed) > 0:
		return fmt.Sprintf("automaxprocs is removed, %s changed, go.mod is tidy, and the module builds.", phrase.CountOf(len(r.Fixed), "file is", "files are"))
	case len(r.own()) == 0:
		return "Only a dependency imports automaxprocs, so this module cannot remove it."
	case !r.manifests:
		return "Which containers run it is not known: add --manifests DIR or --cluster. By CPU limit, these values change:"
	case n == 0:
		return "No container is known to run a program of this module: name those that do with --container."
	case changed == 0 && unknown == 0:
		same := phrase.CountOf(n, "container has", "containers have") + " the same GOMAXPROCS without automaxprocs."
		return phrase.If(missing == "", "Nothing changes: ", "") + same + missing
	}
	text := fmt.Sprintf("%d of %s %s another GOMAXPROCS without automaxprocs", changed, phrase.Count(n, "container"), phrase.If(changed == 1, "gets", "get"))
	return text + phrase.If(unknown > 0, fmt.Sprintf(", and of %d it is not known", unknown), "") + "." + missing
}

// steps are what is left to do after a fix: the commit has nothing of what --prove has left.
func (r *Report) steps() (list document.List) {
	if len(r.Fixed) == 0 {
		return list
	}
	dir, files := path.Dir(r.Module.File), slices.Clone(r.Fixed)
	vendor := path.Join(dir, "vendor")
	if r.unvendored {
		list.Items = append(list.Items, document.Item{Text: "create the vendor folder again", Command: r.vendoring()})
		files = append(files, vendor)
	}
	if r.untracked {
		return list
	}
	add := []string{"git", "add", "--"}
	if slices.Contains(files, vendor) { // which git has, also where .gitignore names it
		add = slices.Insert(add, 2, "-f")
	}
	if dir != "." { // the current folder may be in another repository
		add = slices.Insert(add, 1, "-C", dir)
		for i, f := range files {
			files[i] = strings.TrimPrefix(f, dir+"/")
		}
	}
	list.Items = append(list.Items, document.Item{Text: "stage what is changed, for git diff --staged and git commit", Command: phrase.Shell(append(add, files...))})
	return list
}

// Runs reports whether a program of the module runs automaxprocs.
func (r *Report) Runs() bool {
	return slices.ContainsFunc(r.Programs, func(p Program) bool { return p.Runs })
}

func (r *Report) own() []Import {
	return slices.DeleteFunc(slices.Clone(r.Module.Imports), func(i Import) bool { return i.Module != "" })
}

func (r *Report) answer() document.Panel {
	changed, unknown := r.Changes()
	p := document.Panel{Name: "Answer", Level: 2, Sentence: r.Answer(), Tone: document.OK, Label: "nothing changes"}
	switch {
	case r.unvendored:
		p.Tone, p.Label = document.Attention, "not finished"
	case len(r.Fixed) > 0:
		p.Label = "removed"
	case unknown > 0 || len(r.missing()) > 0 || len(r.Problems) > 0:
		p.Tone, p.Label = document.Unknown, "not known"
	case changed > 0 || !r.manifests && len(r.Differ()) > 0:
		p.Tone, p.Label = document.Attention, "values change"
	case r.openRow() >= 0:
		p.Tone, p.Label = document.Unknown, "not known"
	}
	return p
}

func (r *Report) facts() document.Pairs {
	m := r.Module
	list := document.Pairs{{Name: "module", Value: phrase.Clean(m.Path)}, {Name: "go line", Value: cmp.Or(phrase.Clean(m.Go), "none")}}
	if m.Toolchain != "" {
		list = append(list, document.Pair{Name: "toolchain line", Value: phrase.Clean(m.Toolchain)})
	}
	if m.Builds != "" {
		list = append(list, document.Pair{Name: "go command here", Value: m.Builds})
	}
	version := cmp.Or(phrase.Clean(m.Version), "not in go.mod") + phrase.If(m.Indirect, ", by a dependency", "")
	return append(list, document.Pair{Name: "automaxprocs", Value: version})
}

func (r *Report) importTable() (blocks []document.Block) {
	if len(r.Module.Imports) > 0 {
		t := document.Table{Columns: []document.Column{left("imported in"), left("package"), left("removed")}}
		for _, i := range r.Module.Imports {
			where, how := fmt.Sprintf("%s:%d", phrase.Clean(i.Path), i.Line), "by --fix"
			switch {
			case i.Module != "":
				where, how = phrase.Clean(i.Module), "only by the dependency"
			case !i.Removable:
				how = strings.TrimSuffix("by hand: "+i.Why, ": ")
			}
			t.Rows = append(t.Rows, row(where, r.Module.short(i.Package), how))
		}
		blocks = append(blocks, t)
	}
	if len(r.Programs) == 0 {
		return blocks
	}
	t := document.Table{Columns: []document.Column{left("program"), left("runs automaxprocs"), left("without it the runtime")}}
	for _, p := range r.Programs {
		runs := phrase.If(p.Runs, "yes"+p.Calls.String(), "no")
		t.Rows = append(t.Rows, row(r.Module.short(p.Package), runs, phrase.If(p.Follows, "rounds the limit up, at least 2", "uses all CPUs, whatever the limit")))
	}
	return append(blocks, t)
}

// short is a package below the module, without the module's path, in which the packages do not differ.
func (m Module) short(pkg string) string {
	return phrase.Clean(strings.TrimPrefix(pkg, m.Path+"/"))
}

func left(head string) document.Column {
	return document.Column{Head: head, Short: head, Left: true, Least: 12}
}

func right(head string) document.Column { return document.Column{Head: head, Short: head} }

func row(cells ...string) document.Row {
	return document.Row{Cells: phrase.Each(cells, func(c string) document.Cell { return document.Cell{Value: c} })}
}

func workloadTable(all []Workload) document.Table {
	columns := []document.Column{{Head: "workload", Short: "workload", Left: true, Least: 30}, left("container"), right("limit"), right("before"), right("after"), left("why")}
	return document.Table{Columns: columns, Rows: phrase.Each(all, func(w Workload) document.Row {
		return row(phrase.Clean(w.Object), phrase.Clean(w.Container), limitWords(w.Limit), w.before, w.after, w.because())
	})}
}

func limitWords(cpus *float64) string {
	if cpus == nil {
		return "none"
	}
	return number.BareCPUs(*cpus)
}

var causes = map[Cause]struct{ short, long string }{
	CauseLeast:    {"at least 2", "the runtime uses at least 2, so that two threads share one CPU or less: the limit can throttle it earlier"},
	CauseFraction: {"rounded up", "the runtime rounds the limit up: at full load the limit can throttle it"},
	CauseIgnored:  {"limit ignored", "with this go line the runtime ignores the limit, which then throttles it; go mod edit -go=1.25 changes that"},
	CauseOptions:  {"options gone", "Min of automaxprocs no longer applies"},
	CauseAffinity: {"CPUs read", "automaxprocs does not read the CPUs that it may run on, and the runtime does"},
}

// explained says each cause once, with what keeps the value, and why others are not known.
func explained(all []Change) (list document.List) {
	done, open := map[Cause]bool{CauseNone: true}, map[string]bool{}
	for _, c := range all {
		if c.Effect == EffectUnknown && !open[c.Why] {
			open[c.Why] = true
			list.Items = append(list.Items, document.Item{Text: "not known: " + phrase.Clean(c.Why)})
		}
		if done[c.Cause] || !c.Effect.changes() {
			continue
		}
		done[c.Cause] = true
		list.Items = append(list.Items, document.Item{Text: fmt.Sprintf("%s: %s. Where it was %s, this keeps it: %s", causes[c.Cause].short, causes[c.Cause].long, c.before, phrase.Or(c.Keep))})
	}
	return list
}

func (c Change) because() string {
	switch c.Effect {
	case EffectSame:
		return "the same"
	case EffectUnknown:
		return "not known"
	}
	return causes[c.Cause].short
}

func (r *Report) limitTables() (blocks []document.Block) {
	if len(r.Limits) == 0 {
		return nil
	}
	blocks = append(blocks, document.Heading{Level: 2, Text: "By CPU limit"})
	for i := 0; i < len(r.Limits); i += len(typical) {
		rows := r.Limits[i : i+len(typical)]
		t := document.Table{Columns: []document.Column{right("limit"), right("before"), right("after"), left("why")}}
		var all []Change
		for _, l := range rows {
			t.Rows = append(t.Rows, row(limitWords(l.Limit), l.before, l.after, l.because()))
			all = append(all, l.Change)
		}
		if text := rows[0].Calls.String(); text != "" {
			blocks = append(blocks, document.Text{Text: "automaxprocs" + text + ":", Style: document.Muted})
		}
		blocks = append(blocks, t)
		if list := explained(all); len(list.Items) > 0 {
			blocks = append(blocks, list)
		}
	}
	return blocks
}

func (r *Report) proofs() (blocks []document.Block) {
	if len(r.Proof) == 0 {
		return nil
	}
	t := document.Table{Columns: []document.Column{right("limit"), left("metric"), right("without ÷ with"), left("verdict")}}
	for _, p := range r.Proof {
		for _, c := range p.Checks {
			ratio := "–"
			if c.Ratio != nil && c.Low != nil && c.High != nil {
				ratio = fmt.Sprintf("%.3f (%.3f to %.3f)", *c.Ratio, *c.Low, *c.High)
			}
			t.Rows = append(t.Rows, row(number.BareCPUs(p.Limit), c.Metric, ratio, outcomes[c.Outcome]))
		}
	}
	return []document.Block{document.Heading{Level: 2, Text: "Measured with automaxprocs and without", Note: phrase.Clean(r.Proof[0].Folder)}, t}
}

var outcomes = map[string]string{"worse": "worse", "not_judged": "not judged", "within_margin": "no worse", "undecided": "undecided", "better": "better"}

func (r *Report) notes() (notes document.Notes) {
	for _, w := range r.Workloads {
		subject := phrase.Join(", ", phrase.Clean(cmp.Or(w.Object, w.Path)), phrase.Clean(w.Container))
		if w.Effect == EffectUnknown {
			notes = append(notes, document.Note{Subject: subject, Message: "not known: " + phrase.Clean(w.Why)})
		}
		if w.Effect.changes() {
			notes = append(notes, document.Note{Quiet: true, Subject: subject, Message: fmt.Sprintf("to keep %s: %s", w.before, phrase.Or(w.Keep))})
		}
		for _, n := range w.Notes {
			if n != follow {
				notes = append(notes, document.Note{Subject: subject, Message: phrase.Clean(n)})
			}
		}
	}
	if slices.ContainsFunc(r.Workloads, func(w Workload) bool { return slices.Contains(w.Notes, follow) }) {
		notes = append(notes, document.Note{Quiet: true, Message: follow})
	}
	if r.Runs() {
		notes = append(notes, document.Note{Quiet: true, Message: "in a sandbox that hides /proc/self/mountinfo, neither finds the limit, and the value is all CPUs before and after; procfit ps shows it (PF010)"})
	}
	if r.Others > 0 {
		notes = append(notes, document.Note{Message: phrase.CountOf(r.Others, "container is", "containers are") + " not known to run a program of this module: --container NAME adds those that do"})
	}
	for _, n := range r.Notes {
		notes = append(notes, document.Note{Quiet: true, Subject: phrase.Clean(n.Path), Message: phrase.Clean(n.Message)})
	}
	for _, p := range r.Problems {
		subject := phrase.Clean(p.Path) + phrase.If(p.Line > 0, fmt.Sprintf(":%d", p.Line), "")
		notes = append(notes, document.Note{Subject: subject, Message: phrase.Clean(p.Message)})
	}
	return notes
}
