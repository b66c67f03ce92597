package cli

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/host/git"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/verdict/fleet"
	"github.com/procfit/procfit/internal/verdict/page"
)

// propose makes the branch: a commit for each service whose manifest is to have another
// value. A manifest that cannot have it safely is left as it is, with the reason.
func (f *fleetRun) propose(ctx context.Context, std stdio) error {
	texts := map[string][]byte{} // by path: several services may be in one file
	var changes []git.Change
	var of []*fleet.Service
	for i, s := range f.services {
		out := &f.outcome.Services[i]
		if !out.Differs() {
			continue
		}
		file := *s.manifest
		if changed, ok := texts[file.Path]; ok {
			file.Text = changed
		}
		text, err := f.set(ctx, s, out, file.Text)
		if err != nil {
			out.Proposed = &fleet.Proposed{Refused: phrase.Plain(err)}
			continue
		}
		file.Text = text
		texts[file.Path] = text
		changes = append(changes, git.Change{File: &file, Message: f.message(out), When: out.Result.Started.UTC().Format(time.RFC3339)})
		of = append(of, out)
	}
	if changes == nil {
		if pending, err := f.repository.Pending(ctx, f.branch); err == nil && pending {
			std.notef("branch %s still has the proposals of an earlier run, and this run proposes nothing: look at them, or delete it: git branch -D %[1]s", f.branch)
		}
		return nil
	}
	commits, err := f.repository.Propose(ctx, f.branch, changes)
	if err != nil {
		return fmt.Errorf("branch %s is not created: %w", f.branch, err)
	}
	f.outcome.Branch = f.branch
	for i, s := range of {
		s.Proposed = &fleet.Proposed{Commit: commits[i]}
	}
	return nil
}

func (f *fleetRun) set(ctx context.Context, s *fleetService, out *fleet.Service, text []byte) ([]byte, error) {
	if s.unwritable != nil {
		return nil, s.unwritable
	}
	m := out.Manifest
	chosen, err := manifest.Choose(ctx, filepath.ToSlash(m.Path), text, m.Object, m.Container)
	if err != nil {
		return nil, err
	}
	e := s.expected
	e.Program = m.Container // by which check finds it, also next to another container
	return chosen.Set(ctx, e)
}

// message is that of the commit, with its evidence and the command that measures again.
func (f *fleetRun) message(s *fleet.Service) string {
	v, m := page.VerdictOf(s.Result), s.Manifest
	w := terminal.NewWriter(72, false)
	w.Paragraph("", "", phrase.Clean(fmt.Sprintf("Container %s of %s has %s (%s).", m.Container, m.Object, m.Text, m.Source)))
	w.Gap()
	w.Paragraph("", "", phrase.Clean(v.Answer.Sentence()))
	w.Gap()
	for _, reason := range page.ReasonsOf(s.Result) {
		w.Paragraph("- ", "  ", phrase.Clean(reason))
	}
	w.Gap()
	w.Paragraph("", "", phrase.Clean(fmt.Sprintf("Measured on %s by procfit %s: %s.", s.Result.Started.UTC().Format(time.DateOnly), s.Result.Tool.Version, v.Context)))
	report := path.Join(f.outcome.Folder, s.Folder, "report.html")
	if f.link != "" {
		report = strings.TrimSuffix(f.link, "/") + "/" + path.Join(s.Folder, "RESULTS.md")
	}
	return fmt.Sprintf("%s: GOMAXPROCS=%d\n\n%s\nReport: %s\nMeasure again: %s\n",
		s.Name, *s.Procs, strings.TrimSpace(w.String())+"\n", phrase.Clean(report), page.Again(s.Result).Shell())
}
