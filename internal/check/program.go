package check

import "github.com/procfit/procfit/maxprocs/facts"

// Program is what is known of a Go program without running it: from the flag --go, an
// annotation, a go.mod, the program itself, or an image that holds it.
type Program struct {
	GoVersion      string // "go1.24.6"; "" where it is not known
	Language       string // the go line of its go.mod; "" where that is not known by itself
	DefaultGODEBUG string // what the linker baked in
	Automaxprocs   string // the version of go.uber.org/automaxprocs in it
	From           string // where this is known from, in words: "--go 1.24"
}

// Known tells that something is.
func (p Program) Known() bool { return p.GoVersion != "" || p.Language != "" }

// Programs are those that manifests may run.
type Programs struct {
	Default Program            // of every container, where Known
	Images  map[string]Program // by the image's name as a manifest writes it
}

// Of is the program that an image holds.
func (p Programs) Of(image string) Program {
	if known, ok := p.Images[image]; ok {
		return known
	}
	return p.Default
}

// Check tells whether the versions can be read.
func (p Program) Check() error {
	return facts.Go{Version: p.GoVersion, Language: p.Language}.Check()
}
