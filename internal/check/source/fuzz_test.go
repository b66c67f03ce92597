package source

import (
	"testing"

	"github.com/procfit/procfit/internal/check"
)

// nowhere is a Sink that only counts.
type nowhere struct{ told int }

func (n *nowhere) Value(check.Value)     { n.told++ }
func (n *nowhere) Finding(check.Finding) { n.told++ }
func (n *nowhere) Problem(check.Problem) { n.told++ }
func (n *nowhere) Note(check.Note)       { n.told++ }
func (n *nowhere) Ignore(check.Ignore)   { n.told++ }

// FuzzSource reads what is no Go: no panic, and every answer lies in the file.
func FuzzSource(f *testing.F) {
	f.Add([]byte("package main\n\nimport \"runtime\"\n\nfunc main() {\n\truntime.GOMAXPROCS(4) //procfit:ignore PF024 why\n}\n"))
	f.Add([]byte("package p // procfit:ignore\n/*procfit:ignore PF024 a*/ //go:debug x"))
	f.Add([]byte("//"))
	f.Add([]byte("package \xff\n//procfit:ignore PF024 \x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := scan("some/file.go", text)
		if err == nil && s.pkg == "" {
			t.Error("valid, and of no package")
		}
		for _, a := range fileAnswers("some/file.go", text) {
			if a.From < 1 || a.To < a.From {
				t.Errorf("an answer for the lines %d to %d", a.From, a.To)
			}
		}
	})
}

// FuzzModule reads what is no go.mod or go.work: no panic, and a module or a word why
// there is none.
func FuzzModule(f *testing.F) {
	f.Add([]byte("module m\n\ngo 1.24 // procfit:ignore PF032 why\n\ngodebug (\n\tcontainermaxprocs=0\n)\n"), false)
	f.Add([]byte("go 1.25\n\nuse .\n\ngodebug default=go1.20\n"), true)
	f.Add([]byte("go one"), false)
	f.Add([]byte("unknown line\nmodule m\ngo 1.99\n"), false)
	f.Fuzz(func(t *testing.T, text []byte, work bool) {
		name := "go.mod"
		if work {
			name = "go.work"
		}
		k, to := New(Options{}), &nowhere{}
		k.module(name, text, to)
		if len(k.modules) == 0 && to.told == 0 && !work {
			t.Error("neither a module nor a word why")
		}
		for _, root := range k.trees() {
			root.judge(to)
		}
	})
}
