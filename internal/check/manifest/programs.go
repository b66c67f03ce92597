package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/maxprocs/facts"
)

// findPrograms looks for the program of every unit of which the file itself does not
// tell, among those that lie beside it.
func (c *Checker) findPrograms(to check.Sink) {
	units := slices.Clone(c.units)
	for _, k := range c.store.containers {
		units = append(units, &k.unit)
	}
	images := map[string]bool{}
	for _, u := range units {
		images[u.image] = true
	}
	for _, u := range units {
		if u.program.Known() {
			continue
		}
		use := check.Use{Image: u.image, Name: u.name(), Command: u.command, Go: u.isGo, Only: len(images) == 1}
		known, among := c.o.Programs.For(use)
		u.program = known
		u.beside = known.Known() && !c.o.Programs.ForAll(known)
		if len(among) > 0 {
			to.Note(check.Note{Path: u.at.Path, Message: fmt.Sprintf(
				"%s: its program may be %s; say which with --go, or with the annotation procfit/go: until then its Go version is not known",
				strings.Join(strings.Fields(u.at.Object+" "+u.at.Container), ", container "), strings.Join(among, " or "),
			)})
		}
	}
	for _, u := range c.units {
		u.inherit()
	}
}

// name is what the file calls a unit: its container, or its service.
func (u *unit) name() string {
	if u.written.Image {
		return ""
	}
	if u.at.Container != "" {
		return u.at.Container
	}
	return strings.TrimSuffix(strings.TrimPrefix(u.at.Object, "service "), ".service")
}

// inherit takes the variables that the image sets, where the file does not.
func (u *unit) inherit() {
	of := func(v *variable, value string) {
		if v.state == facts.Absent && value != "" {
			*v = variable{state: facts.Known, value: value, source: "ENV of " + u.program.From}
			u.isGo = true
		}
	}
	of(&u.env, u.program.GOMAXPROCS)
	of(&u.godebug, u.program.GODEBUG)
}
