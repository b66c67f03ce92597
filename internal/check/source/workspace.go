package source

import (
	"go/build"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/procfit/procfit/internal/host/folder"
)

// mostWork is more than any go.work, in bytes.
const mostWork = 4 << 20

// builtHere reports whether a file's constraints let it be built for this system.
func builtHere(file string) bool {
	ok, err := build.Default.MatchFile(filepath.Dir(file), filepath.Base(file))
	return ok || err != nil
}

// outsideWorkspace reports whether a go.work lies above a module which does not use it, or
// names modules that are not there: the go command would then load nothing at all.
func outsideWorkspace(root string, environ []string) bool {
	file := variableOf(environ, "GOWORK")
	switch {
	case file == "off":
		return false
	case file == "":
		file = upwards(root, "go.work")
	}
	if file == "" {
		return false
	}
	text, err := folder.ReadRegular(file, mostWork)
	if err != nil {
		return true
	}
	work, err := modfile.ParseWork(file, text, nil)
	if err != nil {
		return true
	}
	uses := false
	for _, u := range work.Use {
		dir := filepath.FromSlash(u.Path)
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(file), dir)
		}
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
			return true
		}
		uses = uses || real(filepath.Join(dir, "go.mod")) == filepath.Join(root, "go.mod")
	}
	return !uses
}

// upwards is a file of the name in a folder or above it; "" where there is none.
func upwards(dir, name string) string {
	for {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// variableOf is a variable of an environment, in which the last one counts.
func variableOf(environ []string, name string) string {
	value := ""
	for _, v := range environ {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			value = rest
		}
	}
	return value
}
