package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/cli/entry"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/phrase"
)

// printing is how a command prints its result: the flags -o, --json and -q, which mean the
// same for every command that has them.
type printing struct {
	formats []string // the names that -o knows; the first is printed without -o
	files   bool     // -o FORMAT=FILE is allowed, and may be repeated
	places  []printPlace
	quiet   bool
}

// printPlace is one -o. Without a file it is standard output.
type printPlace struct{ format, file string }

// printed is for a command that knows these formats; without one, it has -q alone.
func printed(formats ...string) printing { return printing{formats: formats} }

func (p *printing) fields(jsonHelp string) []field.Field {
	var list []field.Field
	if len(p.formats) > 0 {
		help := "format of the output: " + phrase.Or(p.formats)
		if p.files {
			help = "format, or FORMAT=FILE, one or several: " + strings.Join(p.formats, ", ")
		}
		list = append(list, field.Field{Name: "output", Short: "o", Holds: "FORMAT", Often: p.files, Help: help, Value: (*outputFormats)(p)})
	}
	if slices.Contains(p.formats, "json") {
		list = append(list, field.Field{Name: "json", Help: cmp.Or(jsonHelp, "the same as -o json"), Value: (*outputJSON)(p)})
	}
	list = append(list, entry.Quiet(&p.quiet))
	return field.In(field.Output, list...)
}

// format is what goes to standard output; empty: everything goes to files.
func (p *printing) format() string {
	for _, to := range p.all() {
		if to.file == "" {
			return to.format
		}
	}
	return ""
}

func (p *printing) json() bool { return p.format() == "json" }

func (p *printing) all() []printPlace {
	if len(p.places) == 0 {
		return []printPlace{{format: p.formats[0]}}
	}
	return p.places
}

// std is where the command writes: with -q no progress and no note. The error that ends
// the command is printed by Main.
func (p *printing) std(s stdio) stdio {
	if p.quiet {
		s.err = io.Discard
		if s.quiet != nil {
			s.quiet.Store(true)
		}
	}
	return s
}

// before is where the command writes what it is about to do: with -q only if it asks then.
func (p *printing) before(s stdio, asks bool) stdio {
	if asks {
		return s
	}
	return p.std(s)
}

// reportedButLast prints all of several errors but the last, which it returns.
func reportedButLast(std stdio, failed []error) error {
	if len(failed) == 0 {
		return nil
	}
	for _, err := range failed[:len(failed)-1] {
		std.notef("%v", err)
	}
	return failed[len(failed)-1]
}

func (p *printing) write(s stdio, write func(w io.Writer, format string) error) error {
	for _, to := range p.all() {
		if to.file == "" {
			if err := write(s.out, to.format); err != nil {
				return err
			}
			continue
		}
		f, err := os.Create(to.file)
		if err != nil {
			return fmt.Errorf("--output %s: %w", to.format, err)
		}
		if err := cmp.Or(write(f, to.format), f.Close()); err != nil {
			return fmt.Errorf("--output %s: %w", to.format, err)
		}
	}
	return nil
}

func (p *printing) set(text string) error {
	name, file, toFile := strings.Cut(text, "=")
	switch known := phrase.Or(p.formats); {
	case p.files && (!slices.Contains(p.formats, name) || toFile && file == ""):
		return fmt.Errorf("%q: expected %s, or one of them with a file, such as sarif=procfit.sarif%s", text, known, phrase.DidYouMean(name, p.formats))
	case !slices.Contains(p.formats, name) || toFile && !p.files:
		return fmt.Errorf("%q: expected %s%s", text, known, phrase.DidYouMean(text, p.formats))
	}
	to := printPlace{name, file}
	if slices.Contains(p.places, to) {
		return nil
	}
	if i := slices.IndexFunc(p.places, func(other printPlace) bool { return other.file == file }); i >= 0 {
		if p.files {
			return fmt.Errorf("%q: %s goes to the same place; name a file for all but one format, such as sarif=procfit.sarif", text, p.places[i].format)
		}
		return fmt.Errorf("%q: %s is given already; use only one format", text, p.places[i].format)
	}
	p.places = append(p.places, to)
	return nil
}

type outputFormats printing

func (o *outputFormats) Words() []string       { return o.formats }
func (o *outputFormats) Set(text string) error { return (*printing)(o).set(text) }
func (o *outputFormats) Texts() (texts []string) {
	for _, to := range o.places {
		text := to.format
		if to.file != "" {
			text += "=" + to.file
		}
		texts = append(texts, text)
	}
	return texts
}

func (o *outputFormats) String() string {
	if len(o.places) == 0 {
		return o.formats[0]
	}
	return strings.Join(o.Texts(), ",")
}

// outputJSON is --json as the value of a field: -o json.
type outputJSON printing

func (o *outputJSON) Set(text string) error {
	on, err := strconv.ParseBool(text)
	switch {
	case err != nil:
		return fmt.Errorf("%q: expected true or false, or the flag alone", text)
	case !on:
		return nil
	}
	if err := (*printing)(o).set("json"); err != nil {
		return fmt.Errorf("is -o json, and -o %s is given: use only one of them", (*printing)(o).format())
	}
	return nil
}

func (o *outputJSON) String() string {
	return strconv.FormatBool(slices.ContainsFunc(o.places, func(to printPlace) bool { return to.format == "json" && to.file == "" }))
}
