package page_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/fleet"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// someFleet has a service in each state.
func someFleet() *fleet.Outcome {
	r := pagetest.Typical()
	service := func(name string, then *verdict.Result, unlike error) fleet.Service {
		s := fleet.Service{Name: name, Machine: "x-8cpus", Folder: name + "/x-8cpus/abc", Manifest: &fleet.Manifest{Path: "deploy/" + name + ".yaml", Object: "Deployment/" + name, Container: "app", Procs: new(8), Text: "8", Source: "env"}}
		s.Take(r)
		if then != nil {
			s.Since = fleet.Compare(then, r, unlike)
		}
		return s
	}
	same := service("same", r, nil)
	same.Manifest.Procs = r.Value()
	moved := service("moved", r, errors.New("another\x1b[2J place"))
	moved.Since.Moved, moved.Since.Procs = true, new(3)
	worse := service("worse", r, nil)
	worse.Since.Worse = []fleet.Loss{{Setting: "2", Metric: "throughput", Ratio: 0.7, Bound: new(0.8), Margin: 0.05, N: 8}}
	fails := service("fails", r, nil)
	fails.Manifest.Procs, fails.Since.Failing, fails.Since.NotCompared = r.Value(), []string{"4"}, "with 4, 6 of 6 trials failed"
	proposed := service("proposed", nil, nil)
	proposed.Proposed = &fleet.Proposed{Commit: strings.Repeat("4f2a91c", 5)}
	refused := service("refused", nil, nil)
	refused.Proposed = &fleet.Proposed{Refused: "its form is odd"}
	return &fleet.Outcome{
		Started: time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC), File: "fleet.yaml", Folder: "results/fleet", Commit: "4f2a91c", Branch: "procfit/fleet",
		Services: []fleet.Service{same, moved, worse, fails, proposed, refused, {Name: "failed", Failed: "crashed\x1b[2J"}},
	}
}

func TestFleet(t *testing.T) {
	o := someFleet()
	d := page.Fleet(o, "")
	answer, table := d.Blocks[0].(document.Panel), d.Blocks[1].(document.Table)
	if answer.Label != "To change" || answer.Sentence != "4 services should use another value than their manifests have; 1 service has another proven value than the last time; 1 service is proven worse than the last time; 1 service has failing trials, which it did not have the last time; 1 service has no result." {
		t.Errorf("%s: %s", answer.Label, answer.Sentence)
	}
	value := "set " + strconv.Itoa(*o.Services[0].Procs)
	for i, want := range [][]string{
		{"same", "8", value, "not proven worse"}, {"moved", "8", value, "was 3"}, {"worse", "8", value, "worse"}, {"fails", "8", value, "trials fail"}, {"proposed", "8", value, "first result here"}, {"refused", "8", value, "first result here"}, {"failed", "no manifest", "no result", ""},
	} {
		if got := phrase.Each(table.Rows[i].Cells[:len(want)], func(c document.Cell) string { return c.Value }); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if row := table.Rows[1]; row.Link != "moved/x-8cpus/abc/report.html" || row.Mark != "to change" || table.Rows[0].Mark != "" {
		t.Errorf("%+v", row)
	}
	paths, err := page.WriteFleet(t.TempDir(), o)
	if err != nil || len(paths) != 3 || !strings.HasSuffix(paths[0], "report.html") {
		t.Errorf("%v: %v", err, paths)
	}
	notes := slices.Concat(documenttest.Find[document.Notes](d.Printable().Blocks)...)
	all := strings.Join(phrase.Each(notes, func(n document.Note) string { return n.Message }), "\n")
	has(t, all,
		"no result: crashed", "the proven value is "+strconv.Itoa(*o.Services[0].Procs)+"; on 2026-", "throughput of 2, as a ratio to the default: 30% slower, at least 20%, proven worse than the margin of 5% (n 8) since 2026-",
		"not compared with the result of 2026-", "branch procfit/fleet sets GOMAXPROCS=", "which has 8 (commit 4f2a91c4f2a9)", "is not proposed for deploy/refused.yaml, container app of Deployment/refused: its form is odd")
	if strings.Contains(all, "\x1b") {
		t.Error("a terminal's control character is in a note")
	}
	if len(d.Closing) != 1 || d.Closing[0].(document.Code).Text != "git log -p HEAD..procfit/fleet" {
		t.Errorf("%+v", d.Closing)
	}
	o.Branch = ""
	if d := page.Fleet(o, "procfit fleet --propose"); len(d.Closing) != 1 || d.Closing[0].(document.Code).Text != "procfit fleet --propose" {
		t.Errorf("%+v", d.Closing)
	}
	o.Services = o.Services[:1]
	if p := page.Fleet(o, "x").Blocks[0].(document.Panel); p.Label != "Nothing to change" || p.Sentence != "No service is proven to need another value." {
		t.Errorf("%+v", p)
	}
}
