package source

import (
	"bytes"
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/check"
)

// mostSource is more than any file of Go that somebody has written.
const mostSource = 16 << 20

// scanned is what a Go file tells by itself, cheaply.
type scanned struct {
	path    string // as it is shown
	file    string // absolute, without links
	pkg     string
	imports []string
	words   bool // it holds a word that a rule looks for
	asks    bool // it asks for GOMAXPROCS
	sets    bool // it sets GOMAXPROCS
	listens bool // it is a server's, by the functions that it names
	bad     bool // it is not valid Go, up to its imports
	changed bool // by a fix, which has to be looked at whatever is left
}

// The words that a rule looks for, and those that make a program a server.
var (
	lookedFor = [][]byte{[]byte("GOMAXPROCS"), []byte("NumCPU"), []byte("SetMaxThreads"), []byte(pkgAutomaxprocs), []byte("//go:debug ")}
	asking    = regexp.MustCompile(`GOMAXPROCS\(\s*(0|-1)\s*\)`)
	giving    = regexp.MustCompile(`\bruntime\.GOMAXPROCS\(\s*[^-0)\s]`)
	listening = [][]byte{[]byte("ListenAndServe"), []byte("http.Serve(")}
	overGRPC  = [][]byte{[]byte("grpc.NewServer(")} // also of a connection that somebody else has made
	listeners = [][]byte{[]byte(".Listen(")}
)

// needed are the packages of which a package has to import one for those words to
// matter.
var needed = []string{"runtime", "runtime/debug", "os"}

func scan(path string, text []byte) (scanned, error) {
	s := scanned{path: path, words: holds(text, lookedFor)}
	if !strings.HasSuffix(path, "_test.go") { // a program is made of the others
		s.asks, s.sets = asking.Match(text), giving.Match(text)
		s.listens = holds(text, listening) || holds(text, overGRPC) && holds(text, listeners)
	}
	file, err := filepath.Abs(filepath.FromSlash(path))
	if err != nil {
		return s, err
	}
	s.file = real(file)
	head, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ImportsOnly)
	if head == nil || head.Name == nil {
		return s, err
	}
	s.pkg = head.Name.Name
	for _, i := range head.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil {
			s.imports = append(s.imports, p)
		}
	}
	return s, err
}

func holds(text []byte, words [][]byte) bool {
	return slices.ContainsFunc(words, func(w []byte) bool { return bytes.Contains(text, w) })
}

// real is a path without links, where it leads anywhere.
func real(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path
	}
	return filepath.Join(dir, filepath.Base(path))
}

// problem is an error of a parser at its place.
func problem(path string, err error) check.Problem {
	p := check.Problem{Path: path, Message: err.Error()}
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		p.Line, p.Column, p.Message = list[0].Pos.Line, list[0].Pos.Column, "is not valid Go: "+list[0].Msg
	}
	return p
}

// fileOf is the file that an error of a parser is of.
func fileOf(err error) string {
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return list[0].Pos.Filename
	}
	return ""
}

// unseen are folders that the go command does not look into either.
func unseen(path string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(path)), "/") {
		if strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".") && part != "." && part != ".." {
			return true
		}
	}
	base := filepath.Base(path)
	return strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".")
}
