package output

import (
	"bufio"
	"cmp"
	"fmt"
	"io"

	"github.com/procfit/procfit/internal/check"
	page "github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/text"
)

// ImpactFormats are the names that WriteImpact knows: the others are for findings.
func ImpactFormats() []string { return []string{"text", "json"} }

// WriteImpact renders what CRI-O's injection changes in a format of ImpactFormats.
func WriteImpact(w io.Writer, name string, r *check.Report, m check.Impact, o Options) error {
	b := bufio.NewWriter(w)
	write := writeImpactJSON
	if name == "text" {
		write = writeImpactText
	}
	if err := write(b, r, m, o); err != nil {
		return err
	}
	return b.Flush()
}

// widePage is how wide the tables may be where no terminal bounds them.
const widePage = 120

func writeImpactText(w io.Writer, r *check.Report, m check.Impact, o Options) error {
	d := &page.Document{Title: "GOMAXPROCS by CRI-O", Blocks: []page.Block{headline(m)}}
	if m.Total.Containers.All > 0 {
		d.Add(page.Heading{Level: 3, Text: "By namespace"}, byNamespace(m))
	}
	d.Add(affected(m, o.Values)...)
	if list := keptList(m.Total); len(list) > 0 {
		d.Add(page.Heading{Level: 3, Text: "Not affected"}, page.List{Items: page.Items(list)})
	}
	d.Add(page.Notes(append(holes(m), asides(r, m)...)))
	if !o.Quiet {
		d.Add(page.Text{Text: phrase.Count(r.Files, cmp.Or(r.Noun, "file")) + " checked", Style: page.Strong})
	}
	return text.Render(w, d, text.Options{Width: cmp.Or(o.Width, widePage), Color: o.Color})
}

// headline has the shares that a decision is made by, and the formula.
func headline(m check.Impact) page.Panel {
	t := m.Total
	p := page.Panel{Label: "CRI-O's injection", Sentence: fmt.Sprintf("%s of %s (%s) and %s of %s (%s) get GOMAXPROCS with another value than now",
		number.Count(float64(t.Workloads.Affected)), phrase.Count(t.Workloads.All, "workload"), number.Share(t.Workloads.Share()),
		number.Count(float64(t.Containers.Affected)), phrase.Count(t.Containers.All, "container"), number.Share(t.Containers.Share()))}
	if t.Containers.All == 0 {
		p.Sentence = "there is no container of Kubernetes"
	}
	formula := "2 × the CPU request"
	if m.By.First {
		formula = "the CPU request"
	}
	p.Blocks = []page.Block{page.Text{Style: page.Muted, Text: fmt.Sprintf(
		"a container without a CPU limit gets %s, rounded up, at least %d (policy %s)", formula, m.By.Floor, m.By.Name())}}
	var kinds []string
	for _, e := range []struct {
		of    check.Effect
		words string
	}{{check.EffectLower, "lower"}, {check.EffectHigher, "higher"}, {check.EffectUnknown, "not known, because the value now is not"}} {
		if n := t.Effects[e.of]; n > 0 {
			kinds = append(kinds, fmt.Sprint(n, " ", e.words))
		}
	}
	if n := t.Containers.Affected; n > 0 {
		p.Blocks = append(p.Blocks, page.Text{Style: page.Muted, Text: fmt.Sprintf(
			"%s; %d of the %d are known to run Go, and other programs ignore the variable", phrase.And(kinds), t.KnownGo, n)})
	}
	return p
}

// keptSentences say why containers keep their value.
var keptSentences = map[check.Kept]string{
	check.KeptLimit:       "a CPU limit, so CRI-O injects nothing",
	check.KeptEnvironment: "GOMAXPROCS set already: in the manifest, by the image, or injected",
	check.KeptAnnotation:  "an annotation of the pod that stops the injection (skip-gomaxprocs.crio.io)",
	check.KeptPartition:   "a workload partition, which the first releases skip",
	check.KeptCode:        "a program that sets GOMAXPROCS itself while it runs",
	check.KeptForeign:     "a program that is not Go",
}

func keptList(t check.Totals) (list []string) {
	for _, k := range check.KeptReasons() {
		if n := t.Kept[k]; n > 0 {
			list = append(list, phrase.CountOf(n, "container has ", "containers have ")+keptSentences[k])
		}
	}
	if n := t.Effects[check.EffectSame]; n > 0 {
		list = append(list, phrase.CountOf(n, "container gets", "containers get")+" the value that it has now")
	}
	return list
}

// holes are what an injection leaves open.
func holes(m check.Impact) (notes []page.Note) {
	add := func(h check.Hole, what, known, fix string) {
		if h.Known+h.Possible > 0 {
			notes = append(notes, page.Note{Message: what + " " + known + ": " + phrase.Count(h.Known, "container") + fmt.Sprintf("; Go version not known: %d", h.Possible), Fix: fix})
		}
	}
	add(m.Total.Unread, "CRI-O leaves containers with a CPU limit to the runtime of Go 1.25 and newer.", "With a limit that their Go does not read",
		"build with Go 1.25 or newer, or set GOMAXPROCS from limits.cpu: procfit check has the fix for each")
	add(m.Total.Unfollowed, "The injected variable ends the automatic updates of Go 1.25 and newer: a CPU limit that an in-place resize sets later is not followed.", "Affected",
		`the annotation skip-gomaxprocs.crio.io: "true" keeps the variable out of a pod`)
	return notes
}

// asides are what was left out, and what could not be read.
func asides(r *check.Report, m check.Impact) (notes []page.Note) {
	if m.Patches > 0 {
		notes = append(notes, page.Note{
			Message: phrase.CountOf(m.Patches, "container is", "containers are") + " only a patch, and not counted",
			Fix:     "render them first: kubectl kustomize overlay | procfit check --crio 1 -",
		})
	}
	if n := m.Total.Effects[check.EffectUnknown]; n > 0 && r.Noun == "" {
		notes = append(notes, page.Note{Quiet: true, Message: "the CPUs of the nodes are not in manifests; --cpus names them"})
	}
	for _, n := range r.Notes {
		notes = append(notes, page.Note{Quiet: true, Subject: shown(n.Path), Message: phrase.Clean(n.Message)})
	}
	for _, p := range r.Problems {
		notes = append(notes, page.Note{Subject: at(p.Path, p.Line, p.Column), Message: "cannot be checked: " + phrase.Clean(p.Message)})
	}
	return notes
}
