// Command lane decides what .ci/run tests after the first tier: what the changes since a
// commit that passed can break. It prints variables for a shell on standard output, and
// on standard error what is skipped and why.
//
//	go run ./test/lane -base COMMIT
//	go run ./test/lane -all "because ALL=1"
//
// A package is due if a file changed in a folder that its test program is compiled from.
// Where Go's imports do not know what a test proves, since the test runs programs or reads
// files of other folders, table.go does. A changed file without a package and without a row
// in the table makes everything due.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "lane:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("lane", flag.ContinueOnError)
	base := flags.String("base", "", "`COMMIT` that is known to have passed")
	all := flags.String("all", "", "`why` everything is due")
	if err := flags.Parse(args); err != nil {
		return err
	}
	packages, err := list()
	if err != nil {
		return err
	}
	if err := check(packages); err != nil {
		return err
	}
	var d decision
	switch {
	case *all != "":
		d = everything(*all, packages)
	case *base != "":
		changed, err := changedSince(*base)
		if err != nil {
			return err
		}
		fmt.Fprintf(stderr, "%d files changed since %s\n", len(changed), *base)
		d = decide(changed, packages)
	default:
		return errors.New("-base or -all is missing")
	}
	d.tell(stderr)
	d.print(stdout)
	return nil
}

func (d decision) tell(out io.Writer) {
	if d.all != "" {
		fmt.Fprintf(out, "everything is due: %s\n", d.all)
	}
	for _, line := range d.left {
		fmt.Fprintln(out, "skipped:", line)
	}
	for _, dir := range d.due {
		fmt.Fprintln(out, "due:", dir)
	}
}

func (d decision) print(out io.Writer) {
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return ""
	}
	for _, v := range [][2]string{
		{"code", yes(d.code)}, {"tools", yes(d.tools)}, {"library", yes(d.library)}, {"other", yes(d.other)}, {"cluster", yes(d.cluster())},
		{"machines", yes(slices.Contains(d.due, "test/vm"))},
		{"plain", importPaths(d.plain())}, {"tests", d.pattern()}, {"race", importPaths(d.race())},
	} {
		fmt.Fprintf(out, "%s='%s'\n", v[0], v[1])
	}
}

// pattern is what -run of go test chooses the tests and the scripts by.
func (d decision) pattern() string {
	const scripts = "|^TestScripts(Alone)?$/^("
	return "^(" + strings.Join(d.tests, "|") + ")$" + scripts + strings.Join(d.scripts, "|") + ")$"
}

const module = "github.com/procfit/procfit"

func importPaths(dirs []string) string {
	var paths []string
	for _, dir := range dirs {
		paths = append(paths, module+"/"+dir)
	}
	return strings.Join(paths, " ")
}

// changedSince lists the files that differ from the commit, among them those that git
// does not track yet.
func changedSince(commit string) ([]string, error) {
	differ, err := output("git", "diff", "--name-only", "--no-renames", "-z", commit)
	if err != nil {
		return nil, err
	}
	untracked, err := output("git", "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(differ)+string(untracked), func(r rune) bool { return r == 0 }), nil
}

// list asks the go command for the packages of the workspace that have tests.
func list() ([]testPackage, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	out, err := output("go", "list", "-deps", "-test", "-json=ImportPath,Dir,Deps,Standard,GoFiles,TestGoFiles,XTestGoFiles", "work")
	if err != nil {
		return nil, err
	}
	return packagesOf(root, out)
}

// listed is what go list prints of a package. That of the program of a package's tests
// has the package's path, with the ending ".test".
type listed struct {
	ImportPath, Dir                    string
	Deps                               []string
	Standard                           bool
	GoFiles, TestGoFiles, XTestGoFiles []string
}

func packagesOf(root string, out []byte) ([]testPackage, error) {
	folder := map[string]string{}      // by import path, of those in the repository
	asking := map[string]folderNames{} // of packages with which tests ask for the tier
	tests := map[string]listed{}
	var own []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		dir, err := filepath.Rel(root, p.Dir)
		if p.Standard || err != nil || !filepath.IsLocal(dir) {
			continue
		}
		name, _, variant := strings.Cut(p.ImportPath, " ")
		if of, ok := strings.CutSuffix(p.ImportPath, ".test"); ok {
			tests[of] = p
			continue
		}
		folder[name] = filepath.ToSlash(dir)
		const need = module + "/test/need"
		if !variant && (name == need || slices.Contains(p.Deps, need)) { // what it depends on comes before it
			if asking[name], err = declaredIn(p.Dir, p.GoFiles, asking); err != nil {
				return nil, err
			}
		}
		if !variant && len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			own = append(own, p)
		}
	}
	var packages []testPackage
	for _, p := range own {
		t := testPackage{dir: folder[p.ImportPath], uses: []string{folder[p.ImportPath]}}
		if p.ImportPath != module+"/"+t.dir {
			return nil, fmt.Errorf("package %s is in the folder %s", p.ImportPath, t.dir)
		}
		for _, dep := range tests[p.ImportPath].Deps {
			name, _, _ := strings.Cut(dep, " ")
			if dir := folder[name]; dir != "" && !slices.Contains(t.uses, dir) {
				t.uses = append(t.uses, dir)
			}
		}
		var err error
		if t.more, t.scripts, err = differsIn(p, asking); err != nil {
			return nil, err
		}
		packages = append(packages, t)
	}
	return packages, nil
}

// differsIn are the tests and the scripts of a package that may do more in the second tier.
func differsIn(p listed, asking map[string]folderNames) (tests, scripts []string, err error) {
	files := slices.Concat(p.TestGoFiles, p.XTestGoFiles)
	if asking[p.ImportPath] != nil {
		files = append(files, p.GoFiles...) // whose names its tests have without a package
	}
	names, err := declaredIn(p.Dir, files, asking)
	if err != nil {
		return nil, nil, err
	}
	if tests = names.tests(); slices.ContainsFunc(tests, runsScripts) {
		tests = slices.DeleteFunc(tests, runsScripts)
		scripts, err = scriptsIn(p.Dir)
	}
	return tests, scripts, err
}

// runsScripts tells a test that runs the scripts in a folder, each as a test in it.
func runsScripts(test string) bool { return test == "TestScripts" || test == "TestScriptsAlone" }

// output runs a command and returns what it prints; its error has the command's own words.
func output(name string, args ...string) ([]byte, error) {
	out, err := exec.Command(name, args...).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil, fmt.Errorf("%s %s: %w: %s", name, args[0], err, exit.Stderr)
	}
	return out, err
}
