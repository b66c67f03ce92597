package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page"
	served "github.com/procfit/procfit/internal/verdict/page/served"
)

// livePage is the page of --live. Without the flag it is nil, and does nothing.
type livePage struct {
	server  *served.Server
	session *session.Session
	std     stdio
	began   time.Time
	last    plan.Progress
	failed  bool // it was said that the page cannot be renewed
}

// openLive serves the page, before anything is measured: an address that cannot be had
// is to be known then.
func openLive(ctx context.Context, std stdio, s *session.Session, address string) (*livePage, error) {
	if address == "" {
		return nil, nil
	}
	server, err := served.Listen(ctx, address)
	if err != nil {
		return nil, usageError("--live %w", err)
	}
	p := &livePage{server: server, session: s, std: std, began: time.Now()}
	std.notef("the report, while it runs: %s", server.URL())
	p.renew()
	return p, nil
}

// renew renders what the journal holds. No trial runs then.
func (p *livePage) renew() *page.View {
	contents := p.session.Journal()
	v := page.New(verdict.Analyze(contents.Header, contents.Trials))
	err := p.server.Show(v.SoFar())
	if err == nil {
		return v
	}
	if !p.failed {
		p.failed = true
		p.std.notef("--live: the page is not renewed: %v", err)
	}
	return nil
}

// follow has the page told of what a run's events tell.
func (p *livePage) follow(e *session.Events) {
	if p == nil {
		return
	}
	activity, progress := e.Activity, e.Progress
	e.Activity = func(a plan.Activity) {
		activity(a)
		p.activity(a)
	}
	e.Progress = func(s plan.Progress) {
		progress(s)
		p.progress(s)
	}
}

// progress is told of the beginning and the end of every trial.
func (p *livePage) progress(s plan.Progress) {
	p.last = s
	if s.Trial != nil {
		p.renew()
		return
	}
	p.server.Now(p.now(""))
}

// activity is told what the Runner does.
func (p *livePage) activity(a plan.Activity) {
	if p.last.Total > 0 && p.last.Trial == nil {
		p.server.Now(p.now(activity(a)))
	}
}

// now is what runs, and how far it is.
func (p *livePage) now(what string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Running now: %s", taskName(p.last.Task))
	if what != "" {
		b.WriteString(", " + what)
	}
	fmt.Fprintf(&b, ". Trials done: %s. Elapsed: %s", count(p.last), number.Clock(time.Since(p.began)))
	if left := p.last.Remaining; left > 0 {
		word := ", left: "
		if p.last.AtMost {
			word = ", left at most: "
		}
		b.WriteString(word + number.Clock(left))
	}
	return b.String() + "."
}

// end shows the last page to who watches, and serves no more.
func (p *livePage) end(ctx context.Context) {
	if p == nil {
		return
	}
	if f := page.NewFailure(p.session.Dir, p.session.Journal()); f != nil {
		if err := p.server.End(ctx, f.Document(), ""); err != nil {
			p.std.notef("--live: %v", err)
		}
		return
	}
	v := p.renew()
	if v == nil {
		p.server.Close()
		return
	}
	last := "The sweep has ended."
	path := filepath.Join(p.session.Dir, "report.html")
	if _, err := os.Stat(path); err == nil {
		last += " This page stays in " + path + "."
	}
	if err := p.server.End(ctx, v.Ended(), last); err != nil {
		p.std.notef("--live: %v", err)
	}
}
