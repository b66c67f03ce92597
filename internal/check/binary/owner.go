package binary

import (
	"io"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/procfit/procfit/internal/host/folder"
)

// fromFiles is the package of a program that was built from files that were named.
const fromFiles = "command-line-arguments"

// ours tells whether the reader can change the program's source: its main module is one
// of the repository's, or lies above or below one. Distributions build without modules,
// and then it is its package that counts.
func (c *Checker) ours(module, pkg string) bool {
	if module == "" {
		module = pkg
	}
	if module == "" || module == fromFiles {
		return module != ""
	}
	for known := range c.modules {
		if known != "" && (module == known || strings.HasPrefix(module, known+"/") || strings.HasPrefix(known, module+"/")) {
			return true
		}
	}
	return false
}

// above takes the go.mod files of a folder and of those above it.
func (c *Checker) above(dir string) {
	dir, err := filepath.Abs(filepath.FromSlash(dir))
	if err != nil || c.walked[dir] {
		return
	}
	for ; !c.walked[dir]; dir = filepath.Dir(dir) {
		c.walked[dir] = true
		f, err := folder.OpenRegular(filepath.Join(dir, "go.mod"))
		if err != nil {
			continue
		}
		b, err := io.ReadAll(io.LimitReader(f, mostModule))
		f.Close()
		if err == nil {
			c.modules[modfile.ModulePath(b)] = true
		}
	}
}
