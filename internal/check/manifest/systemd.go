package manifest

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

type setting struct {
	section, key, value string
	file                string
	line, last          int
	head                int // the line of its section
}

// settings takes a unit file apart (systemd.syntax(7)) with its lines, which no library keeps.
func settings(file, b string) []setting {
	all := []setting{}
	section, line, head := "", 0, 0
	open := false    // the line before ended in a backslash
	var value []byte // of the last setting, while it is open
	for text := range strings.Lines(b) {
		line++
		text = strings.TrimRight(text, "\r\n")
		trimmed := strings.TrimSpace(text)
		if trimmed == "" && !open || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";") {
			continue
		}
		body, more := strings.CutSuffix(text, `\`)
		if open {
			value = append(append(value, ' '), strings.TrimSpace(body)...)
			if all[len(all)-1].last, open = line, more; !more {
				all[len(all)-1].value = string(value)
			}
			continue
		}
		if strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]") {
			section, head = trimmed[1:len(trimmed)-1], line
			continue
		}
		if key, rest, ok := strings.Cut(body, "="); ok {
			all = append(all, setting{section, strings.TrimSpace(key), strings.TrimSpace(rest), file, line, line, head})
			value, open = append(value[:0], strings.TrimSpace(rest)...), more
		}
	}
	if open { // the last line of the file
		all[len(all)-1].value = string(value)
	}
	return all
}

type service struct {
	unit
	c       *Checker
	section string // what its program is in: Service, and of a quadlet Container
	found   bool   // the section is there

	quota             float64            // of the service, in CPUs; 0: none
	podmanCPUs        map[string]float64 // by the option of podman run
	slice, inPod      string             // a unit of systemd, and a pod of Podman
	affinity, allowed cpuset.Set
	exec, entrypoint  []setting
	from              map[string]variable // of files, which systemd takes before what is in the unit
	lost              []string            // files that are not read
	passed            bool                // systemd's own GOMAXPROCS is passed on
	removed           []string            // by UnsetEnvironment
}

// systemd reads a service or a quadlet with its drop-ins, or drop-ins whose unit is not there.
func (c *Checker) systemd(file string, b []byte) []*unit {
	name, dir := path.Base(file), path.Dir(file)
	main := true
	if of, isDropIn := dropInOf(file); isDropIn {
		name, dir, main = of, path.Dir(dir), false
		if c.readUnitsOf(dir, name) {
			return nil // it is read with those
		}
	}
	var all []setting
	if main {
		all = settings(file, string(b))
	}
	var dropIns []string
	if file != check.Stdin {
		dropIns = c.dropIns(dir, name)
	}
	if !main {
		own := slices.IndexFunc(dropIns, func(d string) bool { return path.Dir(d) == path.Dir(file) })
		if own < 0 || dropIns[own] != file {
			return nil // the first of its folder is for all
		}
		ext := path.Ext(name)
		if template, instance, _ := strings.Cut(strings.TrimSuffix(name, ext), "@"); instance != "" {
			all, main = c.settingsOf(path.Join(dir, template+"@"+ext))
		}
	}
	section := phrase.If(strings.HasSuffix(name, ".container"), "Container", "Service")
	u := &service{c: c, section: section, from: map[string]variable{}, podmanCPUs: map[string]float64{}}
	u.at = rule.Place{Path: file, Line: 1, Column: 1, Object: name}
	for _, d := range dropIns {
		more, read := c.settingsOf(d)
		if !read {
			u.doubt(replaces, "%s, which is not read, sets another", d)
			u.doubt(counts, "%s, which is not read, has another CPU limit", d)
		}
		all = append(all, more...)
	}
	for _, s := range all {
		u.take(s)
	}
	if !u.found {
		return nil
	}
	if !main {
		u.doubt(replaces, "%s, which is not among the files, sets another", name)
		u.doubt(counts, "%s, which is not among the files, has another CPU limit", name)
	}
	u.finish(dir)
	return []*unit{&u.unit}
}

// settingsOf are those of a file, which may be part of many units; false: it cannot be read.
func (c *Checker) settingsOf(file string) (all []setting, read bool) {
	all = memo(&c.unitFiles, file, func() []setting {
		text, err := c.o.Tree.Read(filepath.FromSlash(file), mostLines)
		if err != nil {
			return nil
		}
		return settings(file, string(text))
	})
	return all, all != nil
}

func (c *Checker) entries(dir string) []os.DirEntry {
	return memo(&c.folders, dir, func() []os.DirEntry {
		at, err := c.o.Tree.Resolve(filepath.FromSlash(dir))
		if err != nil {
			return nil
		}
		entries, _ := os.ReadDir(at)
		return entries
	})
}

func (c *Checker) readUnitsOf(dir, name string) bool {
	return memo(&c.changed, path.Join(dir, name), func() bool {
		files, ok := c.unitsOf(dir, name)
		for _, file := range files {
			c.readMain(file, mostLines, func(b []byte) ([]*unit, error) { return c.systemd(file, b), nil })
		}
		return ok
	})
}

// unitsOf are the units that a folder of drop-ins changes: the one of its name, the instances of
// that template, all services, or those of a prefix. ok is false if the one is not there.
func (c *Checker) unitsOf(dir, name string) (files []string, ok bool) {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	all := stem == name || strings.HasSuffix(stem, "-")
	if stem == name { // service.d
		stem, ext = "", "."+name
	} else if _, err := c.o.Tree.Resolve(filepath.Join(filepath.FromSlash(dir), name)); err == nil {
		files = append(files, path.Join(dir, name))
	}
	if all || strings.HasSuffix(stem, "@") {
		for _, e := range c.entries(dir) {
			if strings.HasPrefix(e.Name(), stem) && path.Ext(e.Name()) == ext && e.Name() != name && e.Type().IsRegular() {
				files = append(files, path.Join(dir, e.Name()))
			}
		}
	}
	return files, all || len(files) > 0
}

func dropInOf(file string) (of string, ok bool) {
	of, inFolder := strings.CutSuffix(path.Base(path.Dir(file)), ".d")
	return of, inFolder && path.Ext(file) == ".conf" && (strings.HasSuffix(of, ".service") || strings.HasSuffix(of, ".container") || of == "service")
}

// dropIns are in their order. Of those of one name the one that is most about this unit is read
// (systemd.unit(5)).
func (c *Checker) dropIns(dir, name string) []string {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	folders := []string{name}
	if template, _, instance := strings.Cut(stem, "@"); instance && !strings.HasSuffix(stem, "@") {
		folders = append(folders, template+"@"+ext)
	}
	for i := strings.LastIndexByte(stem, '-'); i >= 0; i = strings.LastIndexByte(stem[:i], '-') {
		folders = append(folders, stem[:i+1]+ext)
	}
	byName := map[string]string{}
	for _, f := range append(folders, strings.TrimPrefix(ext, ".")) {
		folder := path.Join(dir, f+".d")
		for _, e := range c.entries(folder) {
			if name := e.Name(); path.Ext(name) == ".conf" && byName[name] == "" {
				byName[name] = path.Join(folder, name)
			}
		}
	}
	return phrase.Each(slices.Sorted(maps.Keys(byName)), func(name string) string { return byName[name] })
}

func (u *service) take(s setting) {
	if s.section == u.section && !u.found {
		if u.found = true; s.file == u.at.Path {
			u.at.Line, u.head = s.line, s.head
		}
	}
	if s.section == "Service" {
		u.placed(s)
	}
	if s.section != u.section {
		return
	}
	u.refers = u.refers || strings.HasPrefix(s.key, "Exec") && strings.Contains(s.value, variableName)
	switch s.key {
	case "Environment":
		if s.value == "" { // which takes back all before it
			u.env, u.godebug, u.mistaken = variable{}, variable{}, nil
		}
		for _, assignment := range words(s.value) {
			if name, value, ok := strings.Cut(assignment, "="); ok {
				u.set(name, systemdVariable(value, s))
			}
		}
	case "EnvironmentFile":
		u.environmentFile(s)
	case "PassEnvironment":
		u.passed = slices.Contains(strings.Fields(s.value), variableName) || u.passed && s.value != ""
	case "UnsetEnvironment":
		if s.value == "" {
			u.removed = nil
		}
		u.removed = append(u.removed, words(s.value)...)
	case "ExecStart":
		u.exec = u.commandLine(u.exec, s)
	case "Exec": // of several the last counts (podman-systemd.unit(5))
		u.exec = u.commandLine(nil, s)
	case "Entrypoint":
		u.entrypoint = u.commandLine(nil, s)
	case "Image":
		u.image = s.value
	case "Pod":
		u.inPod = s.value
	case "EnvironmentHost":
		u.passed = s.value == "true"
	case "PodmanArgs":
		u.podman(s)
	case "Secret":
		name, options, _ := strings.Cut(s.value, ",")
		if target := podmanOption(options, "target"); podmanOption(options, "type") == "env" {
			v := systemdVariable("", s).unknown("it is in the secret %s", name)
			v.source = "Secret"
			u.set(cmp.Or(target, name), v)
		}
	}
}

// commandLine adds a command; an empty one takes back all before it.
func (u *service) commandLine(all []setting, s setting) []setting {
	if s.value == "" {
		return nil
	}
	return append(all, s)
}

func (u *service) placed(s setting) {
	switch s.key {
	case "CPUQuota":
		percent, ok := strings.CutSuffix(s.value, "%")
		if v, err := strconv.ParseFloat(percent, 64); ok && err == nil {
			u.quota = v / 100
		} else if s.value == "" {
			u.quota = 0
		} else if isPlaceholder(s.value) {
			u.doubt(counts, "CPUQuota=%s, which is filled in before the unit is installed, is another CPU limit", phrase.Clip(s.value, 40))
		}
	case "Slice":
		u.slice = s.value
	case "CPUAffinity":
		u.affinity = u.merged(u.affinity, s)
	case "AllowedCPUs":
		u.allowed = u.merged(u.allowed, s)
	}
}

// merged are CPUs with those of another line; an empty one takes back all before it.
func (u *service) merged(set cpuset.Set, s setting) cpuset.Set {
	list, err := cpuset.Parse(strings.ReplaceAll(strings.Join(strings.Fields(s.value), ","), ",,", ","))
	switch {
	case err != nil: // numa, or a specifier
		u.doubt(counts, "%s=%s binds it to another number of CPUs", s.key, s.value)
		return set
	case len(list) == 0:
		return nil
	}
	both, _ := cpuset.Parse(strings.Trim(set.String()+","+list.String(), ",")) // each is valid
	return both
}

// podman reads what the options of podman run say of CPUs and variables (podman-run(1)).
func (u *service) podman(s setting) {
	for args := words(s.value); len(args) > 0; args = args[1:] {
		name, value, joined := strings.Cut(args[0], "=")
		if short, isShort := strings.CutPrefix(args[0], "-e"); isShort && short != "" {
			name, value = "-e", strings.TrimPrefix(short, "=")
		} else if !joined && len(args) > 1 {
			value = args[1]
		}
		switch name {
		case "--cpus", "--cpu-quota", "--cpu-period":
			v, err := strconv.ParseFloat(value, 64)
			if err != nil || v < 0 {
				u.doubt(counts, "%s %s is another CPU limit", name, value)
				continue
			}
			u.podmanCPUs[name] = v
		case "--cgroup-parent", "--pod":
			u.doubt(counts, "PodmanArgs=%s has another CPU limit", name)
		case "--cpuset-cpus":
			u.allowed = u.merged(nil, setting{key: name, value: value})
		case "--env", "-e":
			name, value, given := strings.Cut(value, "=")
			v := systemdVariable(value, s)
			if !given {
				v = v.unknown("it comes from the environment of podman")
			}
			u.set(name, v)
		case "--env-file":
			u.doubt(sets, "the file %s, which is not read, sets GOMAXPROCS", value)
		case "--env-host":
			u.passed = !joined || value == "true"
		case "--entrypoint":
			u.doubt(replaces, "PodmanArgs=%s sets another", name)
		}
	}
}

func (u *service) podmanLimit() float64 {
	return cmp.Or(u.podmanCPUs["--cpus"], u.podmanCPUs["--cpu-quota"]/cmp.Or(u.podmanCPUs["--cpu-period"], period))
}

// podmanOption is one of type=env,target=X.
func podmanOption(options, name string) string {
	for o := range strings.SplitSeq(options, ",") {
		if value, ok := strings.CutPrefix(o, name+"="); ok {
			return value
		}
	}
	return ""
}

func (u *service) environmentFile(s setting) {
	if s.value == "" {
		u.from, u.lost = map[string]variable{}, nil
		return
	}
	name := strings.TrimPrefix(s.value, "-")
	variables, read := envFile(filepath.Join(filepath.Dir(filepath.FromSlash(u.at.Path)), path.Base(name)), u.at.Path, u.c.o.Tree)
	if !read {
		u.lost = append(u.lost, name)
	}
	for _, a := range variables {
		v := variable{state: facts.Known, value: unquote(a.value), source: name, file: s.file, line: s.line, column: 1, last: s.last}
		if a.exported && u.section == "Service" {
			if a.name == variableName {
				u.mistaken = append(u.mistaken, mistake{v, "export GOMAXPROCS=" + a.value + " in " + name + " is ignored: systemd reads no export", "write GOMAXPROCS=" + a.value})
				u.isGo = true
			}
			continue
		}
		u.from[a.name] = v.filledIn(false)
	}
}

// systemd.exec(5), "Environment Variables in Spawned Processes"
func (u *service) finish(dir string) {
	quadlet := u.section == "Container"
	for name, v := range u.from {
		inUnit := name == variableName && u.env.isSet() || name == "GODEBUG" && u.godebug.isSet()
		switch {
		case !quadlet || !inUnit: // podman run takes --env before --env-file
			u.set(name, v)
		case name == variableName:
			u.under = v
		}
	}
	gone := func(name string, v variable) bool {
		return slices.Contains(u.removed, name) || slices.Contains(u.removed, name+"="+v.value) && v.state == facts.Known
	}
	if u.env.isSet() && gone(variableName, u.env) {
		u.env = variable{}
	}
	if gone("GODEBUG", u.godebug) {
		u.godebug = variable{}
	}
	if !slices.Contains(u.removed, variableName) {
		for _, name := range u.lost {
			if quadlet {
				u.doubt(sets, "the file %s, which is not read, sets GOMAXPROCS", name)
			} else {
				u.doubt(replaces, "the file %s, which is not read, sets another", name)
			}
		}
		if u.passed {
			u.doubt(sets, "systemd passes on its own GOMAXPROCS")
		}
	}
	u.limits = []facts.Limit{limitOf(u.quota, "the service")}
	if quadlet { // below the service
		u.limits = []facts.Limit{limitOf(u.podmanLimit(), "the container")}
		if u.quota > 0 {
			u.limits = append(u.limits, limitOf(u.quota, "the service"))
		}
	}
	u.limits = append(append(u.limits, u.pod(dir)...), u.slices(dir)...)
	both := cmp.Or(len(u.affinity), len(u.allowed))
	if len(u.affinity) > 0 && len(u.allowed) > 0 {
		both = len(u.affinity.Within(u.allowed))
	}
	u.cpus = both
	var argv []string
	var at variable
	for _, list := range [][]setting{u.entrypoint, u.exec} {
		if len(list) > 0 {
			argv = append(argv, list[0].argv()...)
			if at.line == 0 || strings.Contains(list[0].value, variableName) {
				at = variable{line: list[0].line, column: 1, last: list[0].line}
			}
		}
	}
	if len(argv) > 0 {
		argv[0] = strings.TrimLeft(argv[0], "@-:+!|") // systemd.service(5)
		u.starts(argv, at)
	}
}

// argv are a command's words, with specifiers and $$. An entry point may be a list in JSON.
func (s setting) argv() (exact []string) {
	if s.key == "Entrypoint" && json.Unmarshal([]byte(s.value), &exact) == nil {
		return exact
	}
	all := words(strings.ReplaceAll(s.value, "$$", "$"))
	for i, w := range all {
		if specified(w) {
			w = strings.ReplaceAll(strings.ReplaceAll(w, "%%", "\x00"), "%", "$")
			w = strings.ReplaceAll(w, "\x00", "%")
		}
		all[i] = strings.ReplaceAll(w, "%%", "%")
	}
	return all
}

// specified reports whether systemd fills something in: %i, but not %%.
func specified(text string) bool { return strings.Contains(strings.ReplaceAll(text, "%%", ""), "%") }

// In bytes (systemd.unit(5)).
const longestUnit = 255

// slices are the limits of the slice of a service, and of those around it: a-b.slice is in a.slice.
func (u *service) slices(dir string) (limits []facts.Limit) {
	name := u.slice
	if name == "" || name == "system.slice" || name == "user.slice" || name == "-.slice" {
		return nil
	}
	if len(name) > longestUnit || strings.Contains(name, "/") || strings.Contains(name, "--") {
		u.doubt(counts, "Slice=%s, which is not the name of a slice, has another CPU limit", phrase.Clip(name, 40))
		return nil
	}
	for stem := strings.TrimSuffix(name, ".slice"); stem != ""; stem = stem[:max(strings.LastIndexByte(stem, '-'), 0)] {
		name := stem + ".slice"
		of := service{c: u.c}
		read := u.around(dir, name, func(s setting) {
			if s.section == "Slice" {
				of.placed(s)
			}
		})
		switch {
		case of.quota > 0: // a drop-in goes before what is not among the files
			limits = append(limits, limitOf(of.quota, name))
		case !read:
			u.doubt(counts, "%s has another CPU limit", name)
		}
		if len(of.allowed) > 0 && (len(u.allowed) == 0 || len(of.allowed) < len(u.allowed)) {
			u.allowed = of.allowed
		}
	}
	if len(limits) > 0 {
		u.group = dir + "/"
	}
	return limits
}

// around reads what others are in; false: not all of it is among the files.
func (u *service) around(dir, name string, take func(setting)) bool {
	if u.at.Path == check.Stdin {
		return false
	}
	read := true
	for _, file := range append([]string{path.Join(dir, name)}, u.c.dropIns(dir, name)...) {
		all, known := u.c.settingsOf(file)
		read = read && known
		for _, s := range all {
			take(s)
		}
	}
	return read
}

func (u *service) pod(dir string) (limits []facts.Limit) {
	if u.inPod == "" {
		return nil
	}
	if strings.Contains(u.inPod, "/") || len(u.inPod) > longestUnit {
		u.doubt(counts, "Pod=%s has another CPU limit", phrase.Clip(u.inPod, 40))
		return nil
	}
	of := service{c: u.c, podmanCPUs: map[string]float64{}}
	if !u.around(dir, u.inPod, func(s setting) {
		if s.section == "Pod" && s.key == "PodmanArgs" {
			of.podman(s)
		}
	}) || len(of.open) > 0 {
		u.doubt(counts, "%s has another CPU limit", u.inPod)
	}
	if cpus := of.podmanLimit(); cpus > 0 {
		u.group = dir + "/" + u.inPod
		limits = append(limits, limitOf(cpus, u.inPod))
	}
	return limits
}

// systemdVariable is one of Environment, in which systemd replaces its specifiers: %i, but not %%.
func systemdVariable(value string, s setting) variable {
	v := variable{state: facts.Known, value: strings.ReplaceAll(value, "%%", "%"), source: "Environment", file: s.file, line: s.line, column: 1, last: s.last}
	if specified(value) || marked().MatchString(value) { // systemd does not replace ${NAME}
		return v.unknown("%.60q is filled in before the service starts", value)
	}
	return v
}

// words splits assignments as systemd does: by white space outside quotes.
func words(s string) (all []string) {
	var word strings.Builder
	quote, in := byte(0), false
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == '\\' && i+1 < len(s):
			i++
			word.WriteByte(s[i])
			in = true
		case quote != 0 && ch == quote:
			quote = 0
		case quote == 0 && (ch == '"' || ch == '\''):
			quote, in = ch, true
		case quote == 0 && (ch == ' ' || ch == '\t'):
			if in {
				all = append(all, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteByte(ch)
			in = true
		}
	}
	if in {
		all = append(all, word.String())
	}
	return all
}

var _ check.Checker = (*Checker)(nil)
