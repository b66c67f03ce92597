package number

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

// elsewhere are the files that may write or read a unit themselves, with the reason.
var elsewhere = map[string]string{
	"internal/verdict/journal/canary.go":        "quotes seconds as the file has them",
	"internal/verdict/journal/live.go":          "quotes seconds as the file has them",
	"internal/verdict/journal/query.go":         "writes a query of Prometheus",
	"internal/program/meter/between.go":         "quotes a number that cannot be",
	"internal/lab/channels.go":                  "names the unit that a document uses",
	"internal/measure/trial/foreign/foreign.go": "quotes seconds as the input has them",
	"internal/trace/sched/reading.go":           "quotes milliseconds as the trace has them",
	"internal/trace/sched/page/facts.go":        "has one unit for the range that it writes",
}

var (
	// A unit alone, as it is put behind a number.
	unit = regexp.MustCompile(`^ ?(ns|µs|us|ms|KiB|MiB|GiB)$`)
	// A verb for a number with a unit behind it.
	verb = regexp.MustCompile(`%(?:[-+0-9.]*[dfeg] ?|s )(ns|µs|us|ms|s|KiB|MiB|GiB)([^\w]|$)`)
)

// secondFormatter is what in a file looks like a formatter of times or of memory.
func secondFormatter(file *ast.File) (found []string) {
	tags := map[*ast.BasicLit]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if n.Tag != nil {
				tags[n.Tag] = true
			}
		case *ast.BasicLit:
			text, err := strconv.Unquote(n.Value)
			if n.Kind == token.STRING && err == nil && !tags[n] && (unit.MatchString(text) || verb.MatchString(text)) {
				found = append(found, n.Value)
			}
		case *ast.CallExpr:
			// d.Round(time.Millisecond), which is done to print d.
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Round" && len(n.Args) == 1 {
				if of, ok := n.Args[0].(*ast.SelectorExpr); ok {
					if x, ok := of.X.(*ast.Ident); ok && x.Name == "time" {
						found = append(found, "Round(time."+of.Sel.Name+")")
					}
				}
			}
		}
		return true
	})
	return found
}

// TestNoOtherFormatter holds the production files to this package: whoever writes a time
// or an amount of memory calls it.
func TestNoOtherFormatter(t *testing.T) {
	root, own := "../../..", "internal/show/number"
	needed, files := map[string]bool{}, 0
	err := fs.WalkDir(os.DirFS(root), "internal", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == own || name == "internal/lab/programs" || path.Base(name) == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		found := secondFormatter(file)
		if needed[name] = len(found) > 0; needed[name] && elsewhere[name] == "" {
			t.Errorf("%s has %s: let show/number write it", name, strings.Join(found, " and "))
		}
		return nil
	})
	must.OK(t, err)
	if files < 100 {
		t.Errorf("only %d files were read", files)
	}
	for name, why := range elsewhere {
		if !needed[name] {
			t.Errorf("%s, which %s, needs no exception", name, why)
		}
	}
}

func TestSecondFormatter(t *testing.T) {
	for body, want := range map[string][]string{
		`x := strconv.FormatFloat(s, 'f', 1, 64) + "ms"`: {`"ms"`},
		`x := fmt.Sprintf("%.3g µs a request", s)`:       {`"%.3g µs a request"`},
		`x := fmt.Sprintf("%d MiB", n)`:                  {`"%d MiB"`},
		`x := d.Round(time.Millisecond).String()`:        {"Round(time.Millisecond)"},
		`x := fmt.Sprintf("%d streams", n)`:              nil,
		`x := math.Round(s)`:                             nil,
		"type x struct { Millis int `json:\"ms\"` }":     nil,
	} {
		file := must.Get(parser.ParseFile(token.NewFileSet(), "x.go", "package x\nfunc _() {\n"+body+"\n}", 0))(t)
		if got := secondFormatter(file); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
