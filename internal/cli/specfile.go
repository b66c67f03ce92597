package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/measure/plan/specfile"
	"github.com/procfit/procfit/internal/verdict"
)

// ofCommand is the key of the program to measure.
const ofCommand = "target.command"

// fromFile are the fields of a command that reads and writes a procfit.yaml. Its words take
// the place of a key.
func (m *measurement) fromFile(words string) []field.Field {
	return field.In(field.Output, fileField(&m.file, words))
}

// fileField is -f. What a command line has as words takes the place of a key.
func fileField(p *string, words string) field.Field {
	return often(field.Field{
		Name: "file", Short: "f", Holds: "FILE", Help: "read settings from this file, or none (default " + specfile.Name + ", if it exists)",
		More:  "Flags override the file, and the words of the command line take the place of " + words + ". - is standard input.",
		Value: field.Text(p), Aside: "what it sets is in the header as if flags did",
	})
}

// yamlFormat is the -o that prints a procfit.yaml.
const yamlFormat = "yaml"

// noFile is the --file that reads none.
const noFile = "none"

// fileRows are the fields of a procfit.yaml: those of all commands.
func fileRows() []field.Field {
	o := new(checkOptions)
	paths := field.Field{Name: pathsField, Holds: "PATHS", Help: "the files and folders to check", Value: field.Texts(&o.paths)}
	ofCheck := append([]field.Field{paths, o.expectedRow()}, field.Take(o.fields(), field.Named("severity", "ignore", "cpus", "go")...)...)
	return specfile.Rows(slices.Concat(plan.NewFlags().Fields(), clusterRows(), field.In(field.Check, ofCheck...)))
}

// clusterRows are the fields of the cluster that a file may have: consent is not one.
func clusterRows() []field.Field {
	return slices.DeleteFunc(append([]field.Field{objectRow()}, new(kubeSweep).clusterFields()...), func(f field.Field) bool { return f.Aside == field.OfAsking })
}

// objectRow is the object whose pods are measured, which is no flag.
func objectRow() field.Field {
	return field.Field{Name: specfile.ObjectField, Group: field.Kube, Holds: "OBJECT", Help: "the object to measure copies of: deployment/api, or a manifest.yaml", Value: field.Text(new(string))}
}

// inCluster says whether a run is in a cluster.
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

// pathsField is the name of the paths to check, which are no flag.
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
	if err != nil {
		return nil, usageError("%w", err)
	}
	return f, nil
}

// apply sets what a file has for a command, but for what skip names.
func (f *flags) apply(std stdio, file *specfile.File, skip func(row field.Field) bool, set func(name, text string) error) error {
	used := false
	err := file.Apply(func(row field.Field) bool { return skip(row) }, func(name, text string) error {
		used = true
		return set(name, text)
	})
	if err != nil {
		return usageError("%w", err)
	}
	if used && !f.has("file") {
		std.notef("settings from %s; --file %s ignores it", specfile.Name, noFile)
	}
	return nil
}

// readFile sets what a procfit.yaml sets and no flag does. Without -f it is read if it is
// in the working directory.
func (m *measurement) readFile(std stdio) error {
	if m.file == "-" && (m.spec.Body == "@-" || m.spec.Requests == "-") {
		return usageError("use only one of --file -, --body @- and --requests -: there is one standard input")
	}
	file, err := openFile(std, m.file)
	if err != nil || file == nil {
		return err
	}
	if m.file == "-" { // what came there is in the command line of the journal as flags
		if err := m.set("file", noFile); err != nil {
			return err
		}
	}
	var unused []string
	given := slices.Clone(m.Names)
	skip, set := m.taking(&unused)
	err = m.apply(std, file, skip, set)
	m.forgetBudget(given)
	if unused != nil && err == nil {
		std.notef("%s has no use for %s, which the file has", m.name, strings.Join(unused, ", "))
	}
	return err
}

// forgetBudget leaves out the budget that a file has, where what was given before asks for a grid,
// which has none.
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
func (f *flags) set(name, text string) error {
	if err := f.named(name).Value.Set(text); err != nil {
		return err
	}
	if !f.has(name) {
		f.Names = append(f.Names, name)
	}
	return nil
}

// prepare reads the file and checks what is given.
func (m *measurement) prepare(std stdio) error {
	if err := m.readFile(std); err != nil {
		return err
	}
	if m.printed.format() == yamlFormat && !m.dryRun {
		return usageError("-o yaml prints the settings and measures nothing: add --dry-run")
	}
	return m.check()
}

// settingsOf is a result's command line as a file, with the seed that was drawn; nil where
// it is of a command that reads none.
func settingsOf(r *verdict.Result) *verdict.Settings {
	m := called(r.Tool.Args)
	if m == nil {
		return nil
	}
	if !m.has("seed") {
		if err := m.set("seed", strconv.FormatUint(r.Plan.Seed, 10)); err != nil {
			return nil
		}
	}
	w, err := m.written()
	if err != nil { // what is not UTF-8 stays on the command line
		return nil
	}
	inFile := []string{"out", "file", "output", "dry-run"}
	for _, row := range fileRows() {
		if row.Group != field.Check {
			inFile = append(inFile, row.Name)
		}
	}
	words := strings.Fields(m.name)
	if !m.inCluster() {
		words = append(words, m.operands...)
	}
	return &verdict.Settings{Name: specfile.Name, Text: w.Text, Variables: w.Variables, Command: append(words, m.args(inFile...)...)}
}

// called is a command line of a command that reads a file; nil: it is of another.
func called(args []string) *measurement {
	if len(args) == 0 {
		return nil
	}
	var m *measurement
	std := stdio{out: io.Discard, err: io.Discard}
	cmd := &cobra.Command{}
	name := args[0]
	if name == "kube" && len(args) > 1 {
		name, args = "kube "+args[1], args[1:]
	}
	switch name {
	case "sweep":
		m = &newSweepOptions(std, cmd).measurement
	case "size":
		m = &newSizeOptions(std, cmd).measurement
	case "compare":
		m = &newCompareOptions(std, cmd).measurement
	case "kube sweep":
		m = &newKubeSweepOptions(std, cmd).measurement
	default:
		return nil
	}
	if err := cmd.ParseFlags(args[1:]); err != nil {
		return nil
	}
	m.command = cmd.Flags().Args()
	if dash := cmd.ArgsLenAtDash(); m.inCluster() {
		m.operands, m.command = m.command, nil
	} else if dash > 0 {
		m.operands, m.command = m.command[:dash], m.command[dash:]
	}
	return m
}

// overrides says whether one of the flags that are given takes the place of a field of the
// file: it is the same, or the two cannot be combined.
func (m *measurement) overrides(given []string, name string) bool {
	excluded := strings.Fields(m.named(name).Not)
	if slices.Contains(raceFields, name) {
		excluded = append(excluded, "repeats")
	}
	return slices.ContainsFunc(given, func(flag string) bool {
		return flag == name || slices.Contains(excluded, flag) || slices.Contains(strings.Fields(m.named(flag).Not), name) ||
			flag != "repeats" && name == "repeats" && slices.Contains(raceFields, flag)
	})
}

// filled is a Spec for a Runner: with the values of its variables.
func filled(std stdio, spec plan.Spec) (plan.Spec, error) {
	for _, name := range spec.Variables() {
		if _, ok := os.LookupEnv(name); !ok {
			return spec, usageError("the environment variable %s is not set, and the settings name it; try: export %[1]s=…", name)
		}
	}
	return spec.Filled(std.variable), nil
}

// printFile prints what is given as a procfit.yaml.
func (m *measurement) printFile(std stdio) error {
	w, err := m.written()
	if err != nil {
		return err
	}
	_, err = std.out.Write(w.Text)
	return err
}

// written is what is given as a procfit.yaml.
func (m *measurement) written() (*specfile.Written, error) {
	var list []specfile.Given
	for _, row := range fileRows() {
		if words := m.words(row.Name); words != nil {
			list = append(list, specfile.Given{Field: row, Texts: *words})
			continue
		}
		if row.Group == field.Check || !m.has(row.Name) {
			continue
		}
		one := m.named(row.Name)
		texts := []string{one.Value.String()}
		if of, ok := one.Value.(field.List); ok {
			texts = of.Texts()
		}
		list = append(list, specfile.Given{Field: row, Texts: texts})
	}
	return specfile.Write(list)
}
