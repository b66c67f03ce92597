package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// functionRoom is the length, in characters, of a function's name in a table.
const functionRoom = 48

// profilesOf are the sections of --profile, one for each group that was profiled.
func profilesOf(r *verdict.Result) (list []document.Block) {
	for i := range r.Profiles {
		p := profileWords{&r.Profiles[i], r}
		title := "Profiles"
		if len(r.Profiles) > 1 {
			title += ": " + p.group()
		}
		list = append(list, document.Heading{Level: 2, Text: title, ID: "profiles" + strconv.Itoa(i+1)})
		list = append(list, p.blocks()...)
	}
	return list
}

// servesProfiles is what it takes to profile a server.
func (w words) servesProfiles() string {
	if w.r != nil && w.r.Target.Kind == journal.KindServer {
		return " (the server must serve net/http/pprof)"
	}
	return ""
}

// profiled is the command that profiles a sweep that has ended; empty: it is of another
// command, which has no profiles.
func (w words) profiled() string {
	if !w.bySweep() {
		return ""
	}
	return resumeCommand(w.r, spec.Alone("profile", "own")) // as package plan calls it
}

// profileWords are profiles in words.
type profileWords struct {
	*verdict.Profile
	r *verdict.Result
}

// group is what distinguishes the profiles of one group from those of the others.
func (p profileWords) group() string {
	a := &p.Settings[0]
	return bestOf(p.r, &verdict.Best{QuotaCPUs: a.QuotaCPUs, Replicas: a.Replicas, GoVersion: a.GoVersion, SetLive: a.SetLive})
}

func (p profileWords) blocks() (list []document.Block) {
	if text := p.who(); text != "" {
		list = append(list, document.Text{Text: text})
	}
	if t := p.CPU; t != nil {
		list = append(list, p.table(t, "CPU time by function"))
	}
	if t := p.Allocations; t != nil {
		list = append(list, p.table(t, "Allocations by function"))
	}
	return append(list, document.Text{Text: p.note(), Style: document.Small})
}

// who is who was profiled, if it is one setting.
func (p profileWords) who() string {
	switch {
	case len(p.Settings) > 1:
		return ""
	case p.alone():
		return "Only the default was profiled, because the verdict names no other value."
	}
	return "Only " + p.setting(0) + " was profiled."
}

// alone reports whether no other setting was to be profiled.
func (p profileWords) alone() bool {
	return slices.ContainsFunc(p.r.ToProfile(), func(pair []journal.Setting) bool {
		return len(pair) == 1 && pair[0].Key() == p.Settings[0].Key()
	})
}

// setting is a profiled setting in a sentence.
func (p profileWords) setting(i int) string {
	a := &p.Settings[i]
	name := "the default"
	if a.Procs != nil {
		name = "GOMAXPROCS=" + strconv.Itoa(*a.Procs)
	}
	if len(a.Variables) > 0 {
		name += " and " + p.variables(i)
	}
	return name
}

func (p profileWords) variables(i int) string {
	return variablesOf(&verdict.Group{Variables: p.Settings[i].Variables})
}

// head is a setting as the heading of a column.
func (p profileWords) head(i int) string {
	a := &p.Settings[i]
	name := settingName(&verdict.Row{Procs: a.Procs, ResolvedProcs: a.ResolvedProcs})
	if len(a.Variables) > 0 {
		name += ", " + p.variables(i)
	}
	return name
}

// table is a profile of each setting.
func (p profileWords) table(t *verdict.ProfileTable, title string) document.Table {
	out := document.Table{Columns: []document.Column{{Head: title, Short: title, Left: true, Least: functionRoom / 2}}}
	for i := range p.Settings {
		out.Columns = append(out.Columns, document.Column{Head: "GOMAXPROCS " + p.head(i), Short: p.head(i)})
	}
	for _, row := range t.Functions {
		r := document.Row{Cells: []document.Cell{{Value: functionName(row.Name)}}}
		for _, share := range row.Shares {
			text := absent
			if share != nil {
				text = number.Percent(*share)
			}
			r.Cells = append(r.Cells, document.Cell{Value: text})
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

// functionName is a function without the path of its package, as pprof shortens it.
func functionName(name string) string {
	end := len(name)
	if i := strings.IndexAny(name, "[("); i > 0 { // paths of type arguments and of receivers stay
		end = i
	}
	return phrase.Clip(name[strings.LastIndexByte(name[:end], '/')+1:], functionRoom)
}

// ran is the run that a CPU profile is of.
func (p profileWords) ran(t *verdict.ProfileTable) string {
	var seconds []string
	for _, one := range t.Seconds {
		seconds = append(seconds, number.Short(number.Seconds(one)))
	}
	who, load, of := "Each setting", "", "a profile"
	if len(p.Settings) == 1 {
		who = phrase.Capital(p.setting(0))
	}
	if p.r.Target.Kind == journal.KindServer {
		load = " under its full load"
	}
	if seconds = slices.Compact(seconds); len(seconds) > 1 {
		of = "profiles"
	}
	return fmt.Sprintf("%s ran once more%s, for %s of %s.", who, load, of, phrase.And(seconds))
}

// note is how the tables are to be read, and what compares the profiles.
func (p profileWords) note() string {
	var parts []string
	if t := p.CPU; t != nil {
		parts = append(parts, p.ran(t))
	}
	parts = append(parts, "A number is the share of all that a function takes itself, without the functions that it calls.")
	var read, compare []string
	for _, file := range p.Settings[0].Files {
		read = append(read, phrase.Clean(file))
		if other := p.second(file); other != "" {
			compare = append(compare, "go tool pprof -diff_base "+phrase.Clean(file)+" "+phrase.Clean(other))
		}
	}
	if len(compare) > 0 {
		return strings.Join(append(parts, "To compare them: "+phrase.And(compare)+"."), " ")
	}
	return strings.Join(append(parts, "go tool pprof reads "+phrase.And(read)+"."), " ")
}

// second is the second setting's profile of the same kind, which ends the name of a file;
// empty: it has none.
func (p profileWords) second(file string) string {
	if len(p.Settings) < 2 {
		return ""
	}
	kind := file[strings.LastIndexByte(file, '-')+1:]
	for _, other := range p.Settings[1].Files {
		if strings.HasSuffix(other, "-"+kind) {
			return other
		}
	}
	return ""
}
