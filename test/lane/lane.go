package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

type testPackage struct {
	dir     string   // its folder below the repository's root, with slashes
	uses    []string // the folders, in the repository, that its test program is compiled from
	more    []string // its tests that do more with PROCFIT_REQUIRE=1 than in the first tier
	scripts []string // its scripts that do
}

// differs reports whether the package has something to run after the first tier.
func (p testPackage) differs() bool { return len(p.more) > 0 || len(p.scripts) > 0 }

// decision lists what .ci/run runs after the first tier.
type decision struct {
	all     string   // why everything is due; empty: the change decides
	code    bool     // what is compiled has changed: formats, analyzers, other systems
	due     []string // folders of packages whose second tier the change can break
	tests   []string // those in the plain packages that do more there than in the first tier
	scripts []string // as tests, the scripts
	library bool     // the library's own tests, with the race detector and its oldest Go
	other   bool     // the parts for other systems that a tag chooses
	tools   bool     // the second tier's tools are needed
	left    []string // what is left out, a sentence each
}

// decide compares the changed files with what each package's tests prove. A file that no
// rule knows makes everything due.
func decide(changed []string, packages []testPackage) decision {
	var d decision
	code, tests := map[string]bool{}, map[string]bool{} // folders: of changed code, of packages with changed tests
	for _, file := range changed {
		in := folderOf(file, packages)
		d.code = d.code || compiled(file)
		switch {
		case in != "" && strings.HasSuffix(file, "_test.go"):
			tests[in] = true
		case in != "":
			code[in] = true
		default:
			read, known := readers(file)
			for _, dir := range read {
				tests[dir] = true
			}
			if !known && d.all == "" {
				d.all = file + " changed, which any test may depend on"
			}
		}
	}
	changed = slices.DeleteFunc(slices.Clone(changed), func(file string) bool { return strings.HasSuffix(file, "_test.go") })
	return d.choose(func(p testPackage) bool {
		only, narrow := proves[p.dir]
		switch {
		case tests[p.dir]:
			return true
		case narrow:
			return slices.ContainsFunc(changed, func(file string) bool { return within(p.dir, file) || matches(only, file) })
		}
		return slices.ContainsFunc(p.uses, func(dir string) bool { return code[dir] })
	}, packages)
}

// readers are the folders of the packages whose second tier reads a file that belongs to
// no package.
func readers(file string) (dirs []string, known bool) {
	for _, rule := range outside {
		if matches(rule.paths, file) {
			return rule.read, true
		}
	}
	return nil, false
}

// everything is the decision when nothing is known to have passed, or when ALL=1 asks.
func everything(why string, packages []testPackage) decision {
	return decision{all: why}.choose(nil, packages)
}

// choose asks of each package whether the change reaches it.
func (d decision) choose(reaches func(testPackage) bool, packages []testPackage) decision {
	d.code = d.code || d.all != ""
	skipped := 0
	for _, p := range packages {
		due := d.all != "" || reaches(p)
		switch {
		case due && within("maxprocs", p.dir+"/"):
			d.library = true
		case !due && p.differs():
			if only, narrow := proves[p.dir]; narrow {
				d.left = append(d.left, fmt.Sprintf("%s: nothing changed in what it proves (%s)", p.dir, strings.Join(only, " ")))
			} else {
				skipped++
			}
		}
		if due && (p.differs() || slices.Contains(shared, p.dir)) {
			d.due = append(d.due, p.dir)
		}
		if due && !slices.Contains(shared, p.dir) && p.dir != inCluster {
			d.tests, d.scripts = append(d.tests, p.more...), append(d.scripts, p.scripts...)
		}
		d.other = d.other || due && slices.Contains(portable, p.dir)
	}
	if skipped > 0 {
		d.left = append(d.left, fmt.Sprintf("the second tier of %d more packages: the change reaches none of the code in their tests", skipped))
	}
	if !d.library {
		d.left = append(d.left, "the library with the race detector and with its oldest Go: maxprocs has not changed")
	}
	slices.Sort(d.due)
	slices.Sort(d.tests)
	slices.Sort(d.scripts)
	d.tests, d.scripts = slices.Compact(d.tests), slices.Compact(d.scripts)
	d.tools = len(d.due) > 0 || d.library || d.other
	return d
}

// folderOf is the folder of the package that a file belongs to: the nearest folder above
// the file that has a package with tests or is used by one. It is empty if there is none.
func folderOf(file string, packages []testPackage) string {
	known := folders(packages)
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if known[dir] {
			return dir
		}
	}
	return ""
}

func folders(packages []testPackage) map[string]bool {
	known := map[string]bool{}
	for _, p := range packages {
		known[p.dir] = true
		for _, dir := range p.uses {
			known[dir] = true
		}
	}
	return known
}

// compiled reports whether a file can change what the compiler and the analyzers say.
func compiled(file string) bool {
	return strings.HasSuffix(file, ".go") || file == ".ci/lint" || slices.Contains([]string{"go.mod", "go.sum", "go.work", "go.work.sum", "staticcheck.conf"}, path.Base(file))
}

// matches reports whether one of the paths is the file or, ending with a slash, a folder
// above the file. A path may have the wildcards of path.Match.
func matches(paths []string, file string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		if strings.HasSuffix(p, "/") {
			return strings.HasPrefix(file, p)
		}
		ok, err := path.Match(p, file)
		return ok && err == nil
	})
}

func within(dir, file string) bool { return strings.HasPrefix(file, dir+"/") }

// plain, race and cluster divide what is due: packages in which goroutines share
// something run under the race detector and not without it, and the tests in a cluster
// run alone.
func (d decision) plain() []string {
	return slices.DeleteFunc(slices.Clone(d.due), func(dir string) bool {
		return slices.Contains(shared, dir) || dir == inCluster || within("maxprocs", dir+"/")
	})
}

func (d decision) race() []string {
	return slices.DeleteFunc(slices.Clone(d.due), func(dir string) bool { return !slices.Contains(shared, dir) })
}

func (d decision) cluster() bool { return slices.Contains(d.due, inCluster) }

// check reports rows of the tables that name a folder which has no tests.
func check(packages []testPackage) error {
	var there []string
	for _, p := range packages {
		there = append(there, p.dir)
	}
	named := slices.Concat(shared, portable, slices.Collect(maps.Keys(proves)))
	for _, rule := range outside {
		named = append(named, rule.read...)
	}
	for _, dir := range named {
		if !slices.Contains(there, dir) {
			return fmt.Errorf("test/lane/table.go names %s, which has no tests", dir)
		}
	}
	return nil
}
