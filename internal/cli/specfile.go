package cli

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/plan/specfile"
	"github.com/procfit/procfit/internal/spec"
	"github.com/procfit/procfit/internal/verdict"
)

var readsFile = []string{"sweep", "compare", "kube sweep"}

const ofCommand = "target.command"

// fromFile is the file of a command that reads one; its words take the place of a key.
func (m *measurement) fromFile(words string) []field.Field {
	return field.In(field.Output, fileField(&m.file, words))
}

// fileField is -f. What a command line has as words takes the place of a key.
func fileField(p *string, words string) field.Field {
	return often(field.Field{
		Name: "file", Short: "f", Holds: "FILE", Help: "settings from this file (default " + specfile.Name + ")",
		More:  "none reads no file. Without it, " + specfile.Name + " in the folder is read if it exists. Flags override the file, and the words of the command line take the place of " + words + ". - is standard input.",
		Value: field.Text(p),
	})
}

const yamlFormat = "yaml"

const noFile = "none"

// fileRows are the fields of a procfit.yaml: those of all commands.
func fileRows() []field.Field {
	o := new(checkOptions)
	paths := field.Field{Name: pathsField, Holds: "PATHS", Help: "the files and folders to check", Value: field.Texts(&o.paths)}
	ofCheck := append([]field.Field{paths, o.expectedRow()}, field.Take(o.fields(), field.Named("severity", "ignore", "skip", "cpus", "go")...)...)
	return specfile.Rows(slices.Concat(plan.NewFlags().Fields(), clusterRows(), field.In(field.Check, ofCheck...)))
}

// clusterRows are the fields of the cluster that a file may have: consent is not one.
func clusterRows() []field.Field {
	return slices.DeleteFunc(append([]field.Field{objectRow()}, new(kubeSweep).clusterFields()...), func(f field.Field) bool { return f.Name == "yes" })
}

// objectRow is the object whose pods are measured, which is no flag.
func objectRow() field.Field {
	return field.Field{Name: specfile.ObjectField, Group: field.Kube, Holds: "OBJECT", Help: "the object to measure copies of: deployment/api, or a manifest.yaml", Value: field.Text(new(string))}
}

func (m *measurement) inCluster() bool { return strings.HasPrefix(m.name, "kube ") }

// words are what the command line has in place of a row that is not a flag; nil: the row
// is a flag, or of another command.
func (m *measurement) words(row string) *[]string {
	switch {
	case row == specfile.CommandField && !m.inCluster():
		return &m.command
	case row == specfile.ObjectField && m.inCluster():
		return &m.operands
	}
	return nil
}

const pathsField = "paths"

// openFile reads a procfit.yaml; nil: there is none, or none is to be read.
func openFile(std stdio, path string) (*specfile.File, error) {
	switch {
	case path == noFile:
		return nil, nil
	case path == "":
		if _, err := os.Stat(specfile.Name); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		path = specfile.Name
	}
	b, err := readInput("file", path, specfile.MostBytes+1, std)
	if err != nil {
		return nil, err
	}
	f, err := specfile.Read(path, b, fileRows())
	return f, asUsage(err)
}

// apply sets what a file has for a command, but for what skip names.
func (f *fieldFlags) apply(std stdio, file *specfile.File, skip func(row field.Field) bool, set func(name, text string) error) error {
	used := false
	err := file.Apply(skip, func(name, text string) error {
		used = true
		return set(name, text)
	})
	if err != nil {
		return usageError("%w", err)
	}
	if used && !f.Has("file") {
		std.notef("settings from %s; --file %s ignores it", specfile.Name, noFile)
	}
	return nil
}

// readFile sets what a procfit.yaml sets and no flag does. Without --file it is the one in the
// working directory, if there is one.
func (m *measurement) readFile(std stdio) error {
	if m.file == "-" && (m.spec.Body == "@-" || m.spec.Requests == "-") {
		return usageError("use only one of --file -, --body @- and --requests -: there is one standard input")
	}
	file, err := openFile(std, m.file)
	if err != nil || file == nil {
		return err
	}
	var unused []string
	given := slices.Clone(m.Names)
	skip, set := m.taking(&unused)
	err = m.apply(std, file, skip, set)
	m.forgetBudget(given)
	if err != nil {
		return err
	}
	if unused != nil {
		std.notef("%s has no use for %s, which the file has", m.name, strings.Join(unused, ", "))
	}
	return m.readNoFile()
}

// readNoFile has the recorded command read no file: what the file had is in it as flags, and
// what a command that procfit proposes leaves out must not come from there again.
func (m *measurement) readNoFile() error { return m.set("file", noFile) }

// forgetBudget leaves out the budget of a file where a flag asks for a grid, which has none.
func (m *measurement) forgetBudget(given []string) {
	if (slices.Contains(given, "rate") || m.baseline != "") && m.wantsGrid(m.spec.Spec) != "" {
		m.Names = slices.DeleteFunc(m.Names, func(name string) bool { return slices.Contains(raceFields, name) && !slices.Contains(given, name) })
	}
}

// taking is how a file is taken whose fields give way to what is set already: which of them
// to skip, and how one is set. unused gets the keys that the command does not have.
func (m *measurement) taking(unused *[]string) (skip func(row field.Field) bool, set func(name, text string) error) {
	given := slices.Clone(m.Names)
	skip = func(row field.Field) bool {
		switch {
		case row.Group == field.Check, row.Group == field.Kube && !m.inCluster():
			return true
		case m.words(row.Name) != nil:
			return len(*m.words(row.Name)) > 0
		case !slices.ContainsFunc(m.Fields, func(one field.Field) bool { return one.Name == row.Name }):
			*unused = append(*unused, specfile.Key(row))
			return true
		}
		return m.overrides(given, row.Name)
	}
	return skip, func(name, text string) error {
		if words := m.words(name); words != nil {
			*words = append(*words, text)
			return nil
		}
		return m.set(name, text)
	}
}

// set sets a field as a flag does.
func (f *fieldFlags) set(name, text string) error {
	if err := f.Named(name).Value.Set(text); err != nil {
		return err
	}
	if !f.Has(name) {
		f.Names = append(f.Names, name)
	}
	return nil
}

func (m *measurement) prepare(std stdio) error {
	if err := m.readFile(std); err != nil {
		return err
	}
	if m.printed.format() == yamlFormat && !m.dryRun {
		return usageError("-o yaml prints the settings and measures nothing: add --dry-run")
	}
	return m.check()
}

// settingsOf is a result's Spec as a file, with the seed that was drawn; nil: its command reads none.
func settingsOf(r *verdict.Result) *verdict.Settings {
	s, rows := r.Spec, fileRows()
	if !slices.Contains(readsFile, s.Command) {
		return nil
	}
	if !s.Has("seed") {
		s = s.With(spec.Set("seed", strconv.FormatUint(r.Plan.Seed, 10)))
	}
	text, err := specfile.Write(s, rows)
	if err != nil { // what is not UTF-8 stays on the command line
		return nil
	}
	rest := specfile.Rest(s, rows).With(spec.Unset("out"), spec.Unset("file"), spec.Unset("output"), spec.Unset("dry-run"))
	return &verdict.Settings{Name: specfile.Name, Text: text, Rest: rest}
}

// overrides reports whether a flag that is given is the same as a field of the file, or excludes it.
func (m *measurement) overrides(given []string, name string) bool {
	excluded := strings.Fields(m.Named(name).Not)
	if slices.Contains(raceFields, name) {
		excluded = append(excluded, "repeats")
	}
	return slices.ContainsFunc(given, func(flag string) bool {
		return flag == name || slices.Contains(excluded, flag) || slices.Contains(strings.Fields(m.Named(flag).Not), name) ||
			flag != "repeats" && name == "repeats" && slices.Contains(raceFields, flag)
	})
}

func (m *measurement) printFile(std stdio) error {
	return std.write(specfile.Write(m.asked(std), fileRows()))
}
