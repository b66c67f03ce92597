package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A dependency is a module whose packages are in the program, or Go's standard library.
type dependency struct {
	path, version string
	files         map[string]string // text of each licence and notice, by its name in the module
}

// systems are those whose programs a release has. What a program imports depends on the
// system, hardly ever on the processor, and a test compares the list with each program.
var systems = []string{"linux", "darwin", "windows"}

// licences writes the licences and notices of all that is linked into a program. A
// module without any is an error: it may not be given away.
func licences(root, program, dir string) error {
	found := map[string]*dependency{}
	for _, system := range systems {
		if err := collect(root, program, system, found); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "%s contains the following modules, under these licenses.\n", program)
	for _, path := range slices.Sorted(maps.Keys(found)) {
		d := found[path]
		if len(d.files) == 0 {
			return fmt.Errorf("%s %s has no file with a licence", d.path, d.version)
		}
		fmt.Fprintf(&text, "\n%s\n%s %s\n", strings.Repeat("=", 80), d.path, d.version)
		for _, name := range slices.Sorted(maps.Keys(d.files)) {
			fmt.Fprintf(&text, "\n%s\n%s\n\n%s\n", strings.Repeat("-", 80), name, strings.TrimSpace(d.files[name]))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "THIRD-PARTY-LICENSES.txt"), text.Bytes(), 0o644)
}

type listed struct {
	ImportPath, Dir string
	Standard        bool
	Module          *struct {
		Path, Version, Dir string
		Replace            *struct{ Dir string }
	}
}

// collect adds the modules of a program for a system.
func collect(root, program, system string, found map[string]*dependency) error {
	out, err := run(root, "env", "GOOS="+system, "GOARCH=amd64", "go", "list", "-deps", "-json=ImportPath,Dir,Standard,Module", "./cmd/"+program)
	if err != nil {
		return err
	}
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := list.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if p.Standard || p.Module == nil {
			if err := standard(found); err != nil {
				return err
			}
			continue
		}
		if strings.HasPrefix(p.Module.Path, "github.com/procfit/procfit") {
			continue // LICENSE is that of all of procfit
		}
		if p.Module.Replace != nil {
			return fmt.Errorf("%s is replaced: its licence is not known", p.Module.Path)
		}
		d := found[p.Module.Path]
		if d == nil {
			d = &dependency{p.Module.Path, p.Module.Version, map[string]string{}}
			found[p.Module.Path] = d
		}
		if err := d.read(p.Module.Dir, p.Dir); err != nil {
			return err
		}
	}
}

func standard(found map[string]*dependency) error {
	const path = "Go's standard library and runtime"
	if found[path] != nil {
		return nil
	}
	out, err := run(".", "go", "env", "GOVERSION", "GOROOT")
	if err != nil {
		return err
	}
	version, dir, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	d := &dependency{path, version, map[string]string{}}
	found[path] = d
	return d.read(dir, dir)
}

var licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|notice|patents|unlicense)([-._].*)?$`)

// read adds the licences between a package's folder and that of its module: a part of a
// module may have its own.
func (d *dependency) read(module, dir string) error {
	for ; ; dir = filepath.Dir(dir) {
		files, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, f := range files {
			if !f.Type().IsRegular() || !licence.MatchString(f.Name()) || strings.HasSuffix(f.Name(), ".go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				return err
			}
			name, err := filepath.Rel(module, filepath.Join(dir, f.Name()))
			if err != nil {
				return err
			}
			d.files[filepath.ToSlash(name)] = string(text)
		}
		if dir == module {
			return nil
		}
	}
}
