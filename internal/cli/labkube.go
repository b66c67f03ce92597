package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/manifest"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/lab/pods"
	"github.com/procfit/procfit/internal/lab/run"
	"github.com/procfit/procfit/internal/measure/kube"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/session"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// ownApp is what --kube stands for without a manifest.
const ownApp = "document004"

// labKube are the flags of procfit lab run for a cluster.
type labKube struct {
	clusterOptions
	on string // the app
}

func (o *labKube) fields() []field.Field {
	app := field.Field{
		Name: "kube", Holds: "FILE", Bare: ownApp, Help: "run " + pods.ID + " as pods of a cluster: the article's app, or a manifest",
		More: "A manifest of another app is given with =: --kube=app.yaml.", Value: field.Text(&o.on), Header: "target.object",
	}
	return append(field.In(field.Kube, app), o.clusterOptions.fields("kube")...)
}

// checkKube looks at what goes together.
func (o *labOptions) checkKube() error {
	k := &o.kube
	switch {
	case !o.has("kube"):
		return nil
	case !slices.Equal(o.ids, []string{pods.ID}):
		return usageError("--kube is for %s, alone: procfit lab run %[1]s --kube", pods.ID)
	case k.options.Image == "":
		return usageError("--kube needs --image, a procfit that the nodes can run: procfit kube image makes one")
	}
	return nil
}

// open settles the cluster as the place of the run.
func (k *labKube) open(ctx context.Context, options *run.Options) error {
	var app []byte
	if k.on != ownApp {
		var err error
		if app, err = folder.ReadRegular(k.on, kube.MostManifest); err != nil {
			return usageError("--kube=%s: %w", k.on, err)
		}
	}
	l, err := pods.Open(ctx, k.options, session.ThisHost().Hostname, app, checkManifest)
	if err != nil {
		return err
	}
	k.copies = l.Copies
	options.Machine = l.Machine()
	options.Host, _ = l.Copies.Hosts()
	options.Chosen.Elsewhere = l.Copies.Pods(false).LoadElsewhere
	return nil
}

// noLimitGo is the newest Go whose runtime reads no CPU limit.
var noLimitGo = check.Program{GoVersion: "go1.24", From: "Go 1.24"}

// checkManifest is procfit check --go 1.24 of a manifest with one program, with --fix if it
// is to be fixed.
func checkManifest(ctx context.Context, file string, fix bool) (c pods.Checked, err error) {
	run := func(ctx context.Context, overlay map[string][]byte) (*check.Report, error) {
		checker := manifest.New(manifest.Options{Programs: &check.Programs{Default: noLimitGo}, Changes: fix})
		return check.Run(ctx, check.Options{Paths: []string{file}, Overlay: overlay, Checkers: []check.Checker{checker}})
	}
	var r *check.Report
	if fix {
		r, err = check.Fixer{Check: run, Least: rule.Info, Write: true}.Run(ctx)
	} else {
		r, err = run(ctx, nil)
	}
	if err != nil {
		return c, err
	}
	if len(r.Values) != 1 {
		return c, fmt.Errorf("%s: check finds %s in it, expected one", file, phrase.Count(len(r.Values), "program"))
	}
	c = pods.Checked{Procs: r.Values[0].Procs, Text: r.Values[0].Text, Source: r.Values[0].Source}
	for _, f := range r.Findings {
		if f.Severity != rule.Info {
			c.Findings = append(c.Findings, f.Rule)
		}
	}
	return c, nil
}

// agree shows what all of the run's sweeps are about to make, and asks once.
func (k *labKube) agree(ctx context.Context, std stdio, r *run.Run, dryRun bool) error {
	var first *session.Session
	var all journal.Plan
	for _, p := range r.Planned() {
		if p.Session != nil {
			first = cmp.Or(first, p.Session)
			all.Settings = slices.Concat(all.Settings, p.Session.Plan.Settings)
		}
	}
	if first == nil {
		return nil // the plan says why
	}
	return k.consent(ctx, std, all, dryRun, func() { k.tell(std, first, false) })
}
