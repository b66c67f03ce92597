package check

import (
	"fmt"

	"golang.org/x/mod/modfile"

	"github.com/procfit/procfit/internal/host/folder"
)

const automaxprocs = "go.uber.org/automaxprocs"

// mostModule is more than any go.mod.
const mostModule = 4 << 20

// ReadModule is what a go.mod tells of the programs of its module. Which toolchain
// builds them it tells only where it has a toolchain line; whether they follow a limit
// is the go line's to say, whatever the toolchain.
func ReadModule(path string) (Program, error) {
	b, err := folder.ReadRegular(path, mostModule)
	if err != nil {
		return Program{}, err
	}
	return ParseModule(path, b)
}

// ParseModule is ReadModule of what was read.
func ParseModule(path string, b []byte) (Program, error) {
	m, err := modfile.Parse(path, b, nil)
	if err != nil {
		// A newer Go may have lines that this parser does not know.
		lax, errLax := modfile.ParseLax(path, b, nil)
		if errLax != nil {
			return Program{}, err
		}
		m = lax
	}
	if m.Go == nil {
		return Program{}, fmt.Errorf("%s: has no go line, which says how its programs choose GOMAXPROCS; write one", path)
	}
	p := Program{Language: m.Go.Version, From: path}
	if m.Toolchain != nil && m.Toolchain.Name != "default" {
		p.GoVersion = m.Toolchain.Name
	}
	for _, r := range m.Require {
		if r.Mod.Path == automaxprocs && !r.Indirect {
			p.Automaxprocs = r.Mod.Version
		}
	}
	return p, p.Check()
}
