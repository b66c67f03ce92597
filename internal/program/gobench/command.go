// Package gobench is Go's benchmarks: what a `go test -bench` command is made of,
// how its test binary is compiled once to be run many times, and what the lines
// say that it prints.
//
// Limits: one package a command; flags that would change what is measured are
// refused, -cpu above all, since it sets GOMAXPROCS.
package gobench

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Command is a `go test -bench` command, taken apart so that the test binary can
// be compiled once and then run many times.
type Command struct {
	Go         string   // the go command
	Chdir      string   // of -C
	Package    string   // as the user wrote it; empty: that of the directory
	BuildFlags []string // for go test -c
	TestFlags  []string // for the binary: -test.bench=…
	Args       []string // for the binary, after -args
	profiles   bool     // some flag writes a file
}

// goCommand matches go itself and the wrappers of golang.org/dl.
var goCommand = regexp.MustCompile(`^go(\d+\.\d+(\.\d+|rc\d+|beta\d+)?)?(\.exe)?$`)

// Flags of go test by what becomes of them. A flag not named here belongs to the
// test itself and must follow -args, because nothing reports whether it takes a
// value.
var (
	buildSwitches = strings.Fields("a asan cover linkshared modcacherw msan race trimpath buildvcs")
	buildValues   = strings.Fields("asmflags buildmode compiler covermode coverpkg gccgoflags gcflags installsuffix ldflags mod modfile overlay p pgo pkgdir tags toolexec vet")
	testSwitches  = strings.Fields("benchmem failfast fullpath short v")
	testValues    = strings.Fields("bench benchtime blockprofile blockprofilerate count coverprofile cpuprofile list memprofile memprofilerate " +
		"mutexprofile mutexprofilefraction outputdir parallel run shuffle skip timeout trace")
	profileFlags = strings.Fields("blockprofile coverprofile cpuprofile memprofile mutexprofile trace")
	refused      = map[string]string{
		"cpu":  "it sets GOMAXPROCS, which is what the sweep varies: use --procs",
		"json": "the benchmark's own output is read",
		"c":    "the test binary is compiled and run for you",
		"o":    "the test binary is compiled and run for you",
		"exec": "the test binary is run directly",
		"i":    "it is no longer a flag of go test",
		"n":    "nothing would run", "x": "nothing is built in a trial", "work": "nothing is built in a trial",
		"fuzz": "fuzzing is not a benchmark", "fuzztime": "fuzzing is not a benchmark", "fuzzminimizetime": "fuzzing is not a benchmark",
	}
)

// Parse takes a command apart. It returns nil for one that is no go test
// with -bench, and an error for one that is but cannot be swept.
func Parse(command []string) (*Command, error) {
	if len(command) < 2 || command[1] != "test" || !goCommand.MatchString(filepath.Base(command[0])) {
		return nil, nil
	}
	g := &Command{Go: command[0]}
	args, own := command[2:], []string(nil)
	if i := slices.IndexFunc(args, func(a string) bool { return a == "-args" || a == "--args" }); i >= 0 {
		args, own = args[:i], args[i+1:]
	}
	g.Args = own
	if !slices.ContainsFunc(args, func(a string) bool {
		name, _, _ := cutFlag(a)
		return name == "bench"
	}) {
		return nil, nil
	}
	for len(args) > 0 {
		n, err := g.take(args)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(command, " "), err)
		}
		args = args[n:]
	}
	if !slices.ContainsFunc(g.TestFlags, func(f string) bool { return strings.HasPrefix(f, "-test.run=") }) {
		g.TestFlags = append(g.TestFlags, "-test.run=^$") // benchmarks only, as trials measure the whole run
	}
	return g, nil
}

// cutFlag splits -name, --name, -name=value and -test.name; a name of "" means
// no flag.
func cutFlag(arg string) (name, value string, hasValue bool) {
	name, ok := strings.CutPrefix(arg, "-")
	if !ok || name == "" {
		return "", "", false
	}
	name, value, hasValue = strings.Cut(strings.TrimPrefix(name, "-"), "=")
	return strings.TrimPrefix(name, "test."), value, hasValue
}

// take uses up one flag with its value, or a package.
func (g *Command) take(args []string) (used int, err error) {
	name, value, hasValue := cutFlag(args[0])
	if name == "" {
		if g.Package != "" {
			return 0, fmt.Errorf("it names two packages, %s and %s: a sweep measures one", g.Package, args[0])
		}
		if strings.Contains(args[0], "...") {
			return 0, fmt.Errorf("%s matches several packages: a sweep measures one", args[0])
		}
		g.Package = args[0]
		return 1, nil
	}
	if why, ok := refused[name]; ok {
		return 0, fmt.Errorf("leave out -%s: %s", name, why)
	}
	isSwitch := slices.Contains(buildSwitches, name) || slices.Contains(testSwitches, name)
	isValue := name == "C" || slices.Contains(buildValues, name) || slices.Contains(testValues, name)
	used = 1
	switch {
	case isSwitch && !hasValue:
		value = "true"
	case isSwitch || isValue && hasValue:
	case isValue && len(args) < 2:
		return 0, fmt.Errorf("-%s lacks its value", name)
	case isValue:
		value, used = args[1], 2
	default:
		return 0, fmt.Errorf("-%s is not a flag of go test: give the test's own flags after -args", name)
	}
	switch {
	case name == "C":
		g.Chdir = value
	case slices.Contains(buildSwitches, name) || slices.Contains(buildValues, name):
		g.BuildFlags = append(g.BuildFlags, "-"+name+"="+value)
	default:
		g.TestFlags = append(g.TestFlags, "-test."+name+"="+value)
		g.profiles = g.profiles || slices.Contains(profileFlags, name)
		if name == "coverprofile" { // which go test takes as -cover too
			g.BuildFlags = append(g.BuildFlags, "-cover=true")
		}
	}
	return used, nil
}
