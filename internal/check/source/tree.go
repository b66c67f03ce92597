package source

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// tree is the files of one module, or of none.
type tree struct {
	root    string  // where its go.mod is; "" where there is none
	module  *module // nil where its go.mod is not among the files
	folders map[string][]scanned
	environ []string // of the go command
}

// trees sorts the files by their modules.
func (k *Checker) trees() map[string]*tree {
	all := map[string]*tree{}
	roots := map[string]string{}
	for _, file := range slices.Sorted(maps.Keys(k.files)) {
		dir := filepath.Dir(file)
		root := rootOf(dir, roots)
		t := all[root]
		if t == nil {
			t = &tree{root: root, module: k.modules[root], folders: map[string][]scanned{}, environ: k.o.Environ}
			if root != "" && outsideWorkspace(root, k.o.Environ) {
				t.environ = append(slices.Clone(t.environ), "GOWORK=off")
			}
			all[root] = t
		}
		t.folders[dir] = append(t.folders[dir], k.files[file])
	}
	return all
}

// rootOf is the folder of the go.mod that counts for a folder; "" where there is none.
func rootOf(dir string, known map[string]string) string {
	if root, ok := known[dir]; ok {
		return root
	}
	root := ""
	// The go command takes one in the folder of temporary files for somebody's litter.
	if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && info.Mode().IsRegular() && dir != filepath.Clean(os.TempDir()) {
		root = dir
	} else if up := filepath.Dir(dir); up != dir {
		root = rootOf(up, known)
	}
	known[dir] = root
	return root
}

// speaking are the folders whose packages have to be loaded.
func (t *tree) speaking() []string {
	var all []string
	for _, dir := range slices.Sorted(maps.Keys(t.folders)) {
		words, imports, changed := false, false, false
		for _, s := range t.folders[dir] {
			changed = changed || s.changed
			words = words || s.words
			imports = imports || s.pkg == "main" || slices.ContainsFunc(s.imports, func(p string) bool {
				return slices.Contains(needed, p) || strings.HasPrefix(p, pkgAutomaxprocs)
			})
		}
		if words && imports || changed {
			all = append(all, dir)
		}
	}
	return all
}

// language is the go line of its go.mod; "" where it has none.
func (t *tree) language() string {
	if t.module == nil {
		return ""
	}
	return t.module.language
}

// importPath is that of a folder of the tree.
func (t *tree) importPath(dir string) string {
	rel, err := filepath.Rel(t.root, dir)
	if err != nil || t.module == nil {
		return ""
	}
	return path.Join(t.module.path, filepath.ToSlash(rel))
}

// aside are parts of a path whose programs nobody runs in earnest.
var aside = []string{"example", "examples", "_example", "_examples", "test", "tests", "testing", "e2e", "internal/tools", "tools", "hack", "scripts", "benchmark", "benchmarks"}

// programs are the folders of the main packages that the module is for.
func (t *tree) programs() []string {
	var all []string
	for _, dir := range slices.Sorted(maps.Keys(t.folders)) {
		rel, err := filepath.Rel(t.root, dir)
		if err != nil || slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), func(p string) bool { return slices.Contains(aside, p) }) {
			continue
		}
		if slices.ContainsFunc(t.folders[dir], func(s scanned) bool { return s.pkg == "main" && builtHere(s.file) }) {
			all = append(all, dir)
		}
	}
	return all
}
