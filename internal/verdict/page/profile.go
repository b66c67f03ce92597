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
		p := profiled{&r.Profiles[i], r}
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
	if w.result != nil && w.result.Target.Kind == journal.KindServer {
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
	return resumed(w.result, spec.Alone("profile", "own")) // as package plan calls it
}

// profiled are profiles in words.
type profiled struct {
	*verdict.Profile
	r *verdict.Result
}

// group is what distinguishes the profiles of one group from those of the others.
func (p profiled) group() string {
	a := &p.Settings[0]
	return bestOf(p.r, &verdict.Best{QuotaCPUs: a.QuotaCPUs, Replicas: a.Replicas, GoVersion: a.GoVersion, SetLive: a.SetLive})
}

func (p profiled) blocks() (list []document.Block) {
	if text := strings.Join(p.sentences(), " "); text != "" {
		list = append(list, document.Text{Text: text})
	}
	if t := p.CPU; t != nil {
		list = append(list, p.table(t, "CPU time by function", number.Time()))
	}
	if t := p.Allocations; t != nil {
		list = append(list, p.table(t, "Allocations by function", number.Memory()))
	}
	return append(list, document.Text{Text: p.note(), Style: document.Small})
}

// sentences are what the tables come to.
func (p profiled) sentences() (list []string) {
	add := func(s string) {
		if s != "" {
			list = append(list, s)
		}
	}
	if t := p.CPU; t != nil {
		add(p.total(t, "takes", "CPU time", number.Seconds))
		add(p.parts(t))
	}
	if t := p.Allocations; t != nil {
		add(p.total(t, "allocates", "memory", number.Bytes))
	}
	if len(p.Settings) == 1 {
		if p.alone() {
			add("Only the default was profiled, because the verdict names no other value.")
		} else {
			add("Only " + p.setting(0) + " was profiled.")
		}
	}
	return list
}

// alone reports whether no other setting was to be profiled.
func (p profiled) alone() bool {
	return slices.ContainsFunc(p.r.ToProfile(), func(pair []journal.Setting) bool {
		return len(pair) == 1 && pair[0].Key() == p.Settings[0].Key()
	})
}

// total is what a request takes in all.
func (p profiled) total(t *verdict.ProfileTable, takes, what string, write func(float64) string) string {
	v := t.All.Values
	switch {
	case !t.PerRequest || v[0].Value == nil:
		return ""
	case len(v) == 1:
		return fmt.Sprintf("A request %s %s of %s.", takes, write(*v[0].Value), what)
	case v[1].Value == nil:
		return ""
	case t.All.Clear && t.All.Change != nil && higher(*t.All.Change) != same:
		return fmt.Sprintf("A request %s %s %s with %s than with %s: %s instead of %s.", takes, differs(*t.All.Change, "more", "less"), what, p.setting(1), p.setting(0), write(*v[1].Value), write(*v[0].Value))
	}
	return fmt.Sprintf("A request %s about as much %s with %s (%s) as with %s (%s).", takes, what, p.setting(1), write(*v[1].Value), p.setting(0), write(*v[0].Value))
}

// parts are the shares of the parts of the runtime.
func (p profiled) parts(t *verdict.ProfileTable) string {
	var list []string
	for _, row := range t.Parts {
		var of []string
		for i, v := range row.Values {
			if v.Share != nil {
				of = append(of, number.Share(*v.Share)+" with "+p.setting(i))
			}
		}
		if len(of) == len(row.Values) {
			list = append(list, partName(row.Name)+" "+phrase.And(of))
		}
	}
	if list == nil {
		return ""
	}
	return "Of the CPU time, " + phrase.Semicolons(list) + "."
}

func partName(name string) string {
	switch name {
	case verdict.PartCollector:
		return "the garbage collector takes"
	case verdict.PartScheduler:
		return "the scheduler takes"
	}
	return phrase.Clean(name)
}

// setting is a profiled setting in a sentence.
func (p profiled) setting(i int) string {
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

func (p profiled) variables(i int) string {
	return variablesOf(&verdict.Group{Variables: p.Settings[i].Variables})
}

// head is a setting as the heading of a column.
func (p profiled) head(i int) string {
	a := &p.Settings[i]
	name := "unset"
	switch {
	case a.Procs != nil:
		name = strconv.Itoa(*a.Procs)
	case a.ResolvedProcs != nil:
		name += " (" + strconv.Itoa(*a.ResolvedProcs) + ")"
	}
	if len(a.Variables) > 0 {
		name += ", " + p.variables(i)
	}
	return name
}

// table is a profile of each setting.
func (p profiled) table(t *verdict.ProfileTable, title string, unit number.Unit) document.Table {
	if t.PerRequest {
		title = strings.Replace(title, " by ", " per request, by ", 1)
	}
	out := document.Table{Columns: []document.Column{{Head: title, Short: strings.ToLower(title[:1]) + title[1:], Left: true, Least: functionRoom / 2}}}
	if strings.HasPrefix(title, "CPU") {
		out.Columns[0].Short = title
	}
	for i := range p.Settings {
		out.Columns = append(out.Columns, document.Column{Head: "GOMAXPROCS " + p.head(i), Short: p.head(i), Detailed: true})
	}
	if len(p.Settings) > 1 {
		out.Columns = append(out.Columns, document.Column{Head: "Change", Short: "change"})
	}
	add := func(name string, row verdict.ProfileRow) {
		r := document.Row{Cells: []document.Cell{{Value: name}}}
		for _, v := range row.Values {
			r.Cells = append(r.Cells, profileCell(v, unit))
		}
		if len(p.Settings) > 1 {
			r.Cells = append(r.Cells, document.Cell{Value: profileChange(row)})
		}
		out.Rows = append(out.Rows, r)
	}
	for _, row := range t.Functions {
		add(functionName(row.Name), row)
	}
	for _, row := range t.Parts {
		add("all of "+strings.TrimSuffix(partName(row.Name), " takes"), row)
	}
	add("all functions", t.All)
	return out
}

// profileCell is a function's value with its share.
func profileCell(v verdict.ProfileValue, unit number.Unit) document.Cell {
	switch {
	case v.Share == nil:
		return document.Cell{Value: absent}
	case v.Value == nil:
		return document.Cell{Value: number.Percent(*v.Share)}
	}
	return document.Cell{Value: unit.Number(*v.Value), Detail: number.Percent(*v.Share)}
}

// profileChange is what becomes of a function against the default.
func profileChange(row verdict.ProfileRow) string {
	switch {
	case slices.ContainsFunc(row.Values, func(v verdict.ProfileValue) bool { return v.Share == nil }):
		return absent
	case !row.Clear:
		return noChange
	case row.Change == nil:
		return "new"
	case *row.Change <= -1:
		return "gone"
	}
	return change(1 + *row.Change)
}

// functionName is a function without the path of its package, as pprof shortens it.
func functionName(name string) string {
	name = phrase.Clean(name)
	end := len(name)
	if i := strings.IndexAny(name, "[("); i > 0 { // paths of type arguments and of receivers stay
		end = i
	}
	return phrase.Clip(name[strings.LastIndexByte(name[:end], '/')+1:], functionRoom)
}

// ran is the run that a CPU profile is of.
func (p profiled) ran(t *verdict.ProfileTable) string {
	var seconds, samples []string
	for i, v := range t.All.Values {
		seconds = append(seconds, number.Short(number.Seconds(t.Seconds[i])))
		samples = append(samples, number.Count(v.Samples))
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
	return fmt.Sprintf("%s ran once more%s, for %s of %s (%s samples of CPU time).", who, load, of, phrase.And(seconds), phrase.And(samples))
}

// note is how the tables are to be read.
func (p profiled) note() string {
	var parts, files []string
	for i := range p.Settings {
		for _, f := range p.Settings[i].Files {
			files = append(files, phrase.Clean(f))
		}
	}
	if t := p.CPU; t != nil {
		parts = append(parts, p.ran(t))
	}
	parts = append(parts, "A number is what a function takes itself, without the functions that it calls; its share of all is next to it.")
	if len(p.Settings) > 1 {
		parts = append(parts, noChange+": chance in the sampling can make such a difference.")
	}
	if p.CPU != nil && len(p.CPU.Parts) > 0 {
		parts = append(parts, "All of the garbage collector and all of the scheduler are sums of many functions; a function of theirs can have a row of its own too.")
	}
	return strings.Join(append(parts, "go tool pprof reads "+phrase.And(files)+"."), " ")
}
