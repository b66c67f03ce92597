package page

import (
	"fmt"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
)

// functionRoom is the length, in characters, of a function's name in a table.
const functionRoom = 48

func profileOf(r *verdict.Result) []document.Block {
	p := r.Profiled
	if p == nil {
		return nil
	}
	list := []document.Block{document.Heading{Level: 2, Text: "Profiles", ID: "profiles"}}
	var read []string
	seconds := 0.0
	for _, of := range []struct {
		title string
		*verdict.ProfileTable
	}{{"CPU time by function", p.CPU}, {"Allocations by function", p.Allocations}} {
		if of.ProfileTable == nil {
			continue
		}
		list = append(list, profileTable(p, of.ProfileTable, of.title))
		var files []string
		for _, t := range of.Taken {
			if t != nil {
				seconds, files = max(seconds, t.Seconds), append(files, phrase.Clean(t.File))
			}
		}
		if len(files) > 1 {
			files[0] = "-diff_base " + files[0]
		}
		read = append(read, "go tool pprof "+strings.Join(files, " "))
	}
	if read == nil {
		return nil
	}
	return append(list, document.Text{Style: document.Small, Text: fmt.Sprintf(
		"A number is the share that a function takes itself, without the functions that it calls, in one more run of at most %s. To see all: %s.",
		number.Short(number.Seconds(seconds)), phrase.And(read))})
}

func profileTable(p *verdict.Profile, t *verdict.ProfileTable, title string) document.Table {
	out := document.Table{Columns: []document.Column{{Head: title, Short: title, Left: true, Least: functionRoom / 2}}}
	for _, one := range p.Settings {
		a := one.Setting
		name := phrase.Join(", ", settingName(&verdict.Row{Procs: a.Procs, ResolvedProcs: one.ObservedProcs}), variablesOf(&verdict.Group{Setting: a}))
		out.Columns = append(out.Columns, document.Column{Head: "GOMAXPROCS " + name, Short: name})
	}
	for _, row := range t.Functions {
		r := document.Row{Cells: []document.Cell{{Value: functionName(row.Name)}}}
		for _, share := range row.Shares {
			r.Cells = append(r.Cells, document.Cell{Value: maybe(share, number.Percent)})
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

// profiled is a command that profiles afterwards; empty: the run is of one without profiles.
func (w words) profiled() string {
	if !w.bySweep() {
		return ""
	}
	return resumeCommand(w.r, spec.Alone("profile", "own")) // as package plan calls it
}

// functionName has no path of a package, as pprof shortens it.
func functionName(name string) string {
	end := len(name)
	if i := strings.IndexAny(name, "[("); i > 0 { // paths of type arguments and of receivers stay
		end = i
	}
	return phrase.Clip(name[strings.LastIndexByte(name[:end], '/')+1:], functionRoom)
}
