package check

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/procfit/procfit/test/must"
)

func TestReadModule(t *testing.T) {
	for text, want := range map[string]Program{
		"module x\n\ngo 1.24\n":                                          {Language: "1.24"},
		"module x\ngo 1.24.0\ntoolchain go1.26.1\n":                      {Language: "1.24.0", GoVersion: "go1.26.1"},
		"module x\ngo 1.26\ntoolchain default\n":                         {Language: "1.26"},
		"go 1.21\nrequire go.uber.org/automaxprocs v1.6.0\n":             {Language: "1.21", Automaxprocs: "v1.6.0", Required: true},
		"go 1.21\nrequire go.uber.org/automaxprocs v1.6.0 // indirect\n": {Language: "1.21"},
		"module x\ngo 1.25\ngodebug panicnil=1\n":                        {Language: "1.25"}, // as one without the line
		"module x\ngo 1.25\ngodebug default=go1.24\n":                    {Language: "1.25", DefaultGODEBUG: "default=go1.24"},
	} {
		path := filepath.Join(t.TempDir(), "go.mod")
		must.Write(t, path, text)
		want.From = path
		if got, err := ReadModule(nil, path); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "go.mod")
	for text, want := range map[string]string{"module x\n": "has no go line", "go one\n": "invalid go version", "((": "go.mod"} {
		must.Write(t, path, text)
		if _, err := ReadModule(nil, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	if _, err := ReadModule(nil, t.TempDir()); err == nil {
		t.Error("a folder is taken for a module")
	}
}

// TestDefaults: which lines of a module decide, as a program shows them that the go command builds.
func TestDefaults(t *testing.T) {
	for lines, want := range map[string]string{
		"":                                   "1.24, ",
		"panicnil=1":                         "1.24, panicnil=1",
		"containermaxprocs=1":                ", containermaxprocs=0,updatemaxprocs=0,containermaxprocs=1",
		"default=go1.25":                     ", containermaxprocs=1,updatemaxprocs=1,default=go1.25",
		"default=go1.25,containermaxprocs=0": ", containermaxprocs=1,updatemaxprocs=1,default=go1.25,containermaxprocs=0",
		"updatemaxprocs=1,default=go1.23":    ", containermaxprocs=0,updatemaxprocs=0,updatemaxprocs=1,default=go1.23",
	} {
		if language, godebug := (Program{Language: "1.24", DefaultGODEBUG: lines}).Defaults(); language+", "+godebug != want {
			t.Errorf("%q: %q, %q, want %q", lines, language, godebug, want)
		}
	}
}

func FuzzModule(f *testing.F) {
	f.Add([]byte("module x\ngo 1.24.0\ntoolchain go1.26.1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := ParseModule("go.mod", b); err == nil && !p.Known() {
			t.Errorf("%q tells nothing, and no error", b)
		}
	})
}
