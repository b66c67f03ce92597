package entry

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
)

// The exit codes of every program here, in addition to that of the started program.
const (
	CodeUsage   = 2
	CodeFailure = 3
)

// Name is the program that does only this.
const Name = "procfit-run"

// help is what procfit run --help prints, for the program.
//
//go:embed help.txt
var help string

// Main is the program procfit-run.
func Main(args []string, out, err io.Writer) int {
	secrets := secret.NewKeeper(args, os.LookupEnv)
	note := func(format string, values ...any) { fmt.Fprintln(err, Note(secrets, format, values...)) }
	o, asked := New(), false
	fields := append(o.Fields(), field.Field{Name: "help", Short: "h", Value: field.Switch(&asked)})
	given := field.Given{Fields: fields}
	command, failed := parse(&given, args)
	switch {
	case failed != nil:
	case asked:
		fmt.Fprint(out, help)
		return 0
	default:
		failed = o.Check(Name, command, &given)
	}
	if failed != nil {
		note("%v", failed)
		return CodeUsage
	}
	code, failed := o.Run(command, out, note)
	if failed != nil {
		note("%v", failed)
		return CodeFailure
	}
	return code
}

// Note is a line for standard error, next to the output, without the credentials that
// procfit was called with: logs of CI keep it. Errors are in plain words, and what does not print in
// the words of others is an escape.
func Note(secrets *secret.Keeper, format string, args ...any) string {
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = phrase.Plain(err)
		}
	}
	return "procfit: " + phrase.CleanLines(secrets.In(fmt.Sprintf(format, args...)))
}

// parse reads flags up to the first word that is none, and returns that word and the rest.
func parse(given *field.Given, args []string) (rest []string, err error) {
	for len(args) > 0 {
		word := args[0]
		name, long := strings.CutPrefix(word, "--")
		switch {
		case word == "--":
			return args[1:], nil
		case len(word) < 2 || word[0] != '-':
			return args, nil
		case long && (name[0] == '-' || name[0] == '='):
			return nil, field.NotAFlag(word, Name)
		case long:
			args, err = parseLong(given, name, args[1:])
		default:
			args, err = args[1:], parseShort(given, word[1:])
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// parseLong reads --NAME=TEXT, --NAME TEXT or, of a switch, --NAME.
func parseLong(given *field.Given, name string, args []string) (rest []string, err error) {
	name, text, has := strings.Cut(name, "=")
	known := phrase.Each(given.Fields, func(f field.Field) string { return f.Name })
	if !slices.Contains(known, name) {
		near := append(phrase.Near(name, known), "")
		return nil, field.Unknown(name, near[0], Name)
	}
	switch f := given.Named(name); {
	case has:
	case f.Holds == "":
		text = "true"
	case len(args) == 0:
		return nil, f.NoValue()
	default:
		text, args = args[0], args[1:]
	}
	return args, given.Set(name, text)
}

// parseShort reads -q, -qh or -q=false; those that have one letter are all switches.
func parseShort(given *field.Given, letters string) error {
	letters, text, has := strings.Cut(letters, "=")
	if !has {
		text = "true"
	}
	for i, letter := range strings.Split(letters, "") {
		at := slices.IndexFunc(given.Fields, func(f field.Field) bool { return f.Short == letter })
		if at < 0 {
			return field.UnknownShort(letter, Name)
		}
		value := "true"
		if i == len(letters)-1 {
			value = text
		}
		if err := given.Set(given.Fields[at].Name, value); err != nil {
			return err
		}
	}
	return nil
}
