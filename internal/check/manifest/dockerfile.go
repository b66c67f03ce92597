package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/buildkit/frontend/dockerfile/parser"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/program/rule"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/maxprocs/facts"
)

type stage struct {
	name, base string
	line       int
	env        []named
	from       []string                // the stages that it takes files of, by name or number
	runs       []string                // its commands
	starts     map[string]*parser.Node // ENTRYPOINT and CMD
	refers     bool                    // another variable, or a command of the build, has the value of GOMAXPROCS in it
}

type named struct {
	name string
	variable
}

// building are commands that build a program, by themselves or by a script of that name.
var building = pattern.Of(`(?i)\bgo\s+(?:-C\s+\S+\s+)?(?:build|install|run)\b|\b(?:garble|just|task|xcaddy)\s[^&;|]*\bbuild\b|\bmake\b|\bmage\b|\bgoreleaser\b|\bbazel\b|\./build\b|build[\w-]*\.(?:sh|bash|py)\b`)

// tooling are commands that install tools: packages, and Go programs of another module.
var tooling = pattern.Of(`\b(?:apt-get|apt|apk|yum|dnf|microdnf)\s[^&;|]*|\bgo\s+install\s+[^&;|]*@[^&;|]*`)

// filesOf is in COPY --from=build and RUN --mount=type=bind,from=build.
var filesOf = pattern.Of(`\bfrom=([^,\s]+)`)

// toolchain is an image with Go: golang:1.26.1-alpine, UBI's go-toolset:1.23, chainguard/go,
// OpenShift's builder:rhel-9-golang-1.22, and not acme/hello-golang:1.14.2, whose version is its own.
// Its first group is what names it, the second one the version.
var toolchain = pattern.Of(`(?:^|/|:(?:[\w.-]*[_-])?)((?:golang|go-toolset|chainguard/go)[:_-]v?(1\.[0-9]+(?:\.[0-9]+|rc[0-9]+|beta[0-9]+)?))(?:[-_@]|$)|(?:^|/)((?:golang|go-toolset|chainguard/go)(?::[\w.-]+)?)(?:@|$)`)

// dockerfile reads the variables of the last stage and of those below it, and which Go builds it.
func (c *Checker) dockerfile(file string, b []byte, to check.Sink) []*unit {
	parsed, err := parser.Parse(bytes.NewReader(b))
	if err != nil {
		p := check.Problem{Path: file, Message: "is not a valid Dockerfile: " + err.Error()}
		var at *parser.LocationError
		if errors.As(err, &at) && len(at.Locations) > 0 && len(at.Locations[0]) > 0 {
			p.Line = at.Locations[0][0].Start.Line
		}
		to.Problem(p)
		return nil
	}
	stages := stagesOf(parsed.AST.Children)
	if len(stages) == 0 {
		return nil
	}
	u := &unit{}
	u.at = rule.Place{Path: file, Line: stages[len(stages)-1].line, Column: 1, Object: "image"}
	u.written.Image = true
	if image, version := released(stages); image != "" {
		m := c.moduleOf(file)
		u.isGo, u.builder, u.module = true, image, m.From
		if version != "" {
			u.program = check.Program{GoVersion: "go" + version, Language: m.Language, DefaultGODEBUG: m.DefaultGODEBUG, Automaxprocs: m.Automaxprocs, Required: m.Required, From: "FROM " + image}
		}
	}
	// From the last stage down to what it is built on; of ENV the last one counts.
	at, chain := len(stages)-1, []stage(nil)
	starts := map[string]*parser.Node{}
	for range stages {
		for name, n := range stages[at].starts {
			if starts[name] == nil {
				starts[name] = n
			}
		}
		u.refers = u.refers || stages[at].refers
		chain = append(chain, stages[at])
		below := stageAt(stages[:at], stages[at].base)
		if below < 0 {
			break
		}
		at = below
	}
	for _, s := range slices.Backward(chain) {
		for _, v := range s.env {
			if v.name == variableName || v.name == "GODEBUG" {
				u.set(v.name, v.variable)
			}
		}
	}
	for _, s := range stages {
		for _, v := range s.env {
			if misspelt(v.name) {
				u.set(v.name, v.variable)
			}
		}
	}
	u.fromImage(starts)
	return []*unit{u}
}

// fromImage takes ENTRYPOINT and CMD. One that is not a list is a script of sh.
func (u *unit) fromImage(starts map[string]*parser.Node) {
	var argv []string
	line := 0
	for _, name := range []string{"CMD", "ENTRYPOINT"} {
		n := starts[name]
		if n == nil {
			continue
		}
		words := arguments(n)
		if !n.Attributes["json"] {
			words = append([]string{"sh", "-c"}, words...)
		}
		argv, line = append(words, argv...), n.StartLine
	}
	u.starts(argv, variable{line: line, column: 1, last: line})
}

// moduleOf is the go.mod that the user has named, else the nearest one above a Dockerfile.
func (c *Checker) moduleOf(file string) check.Program {
	if c.o.Programs.Default.Language != "" {
		return c.o.Programs.Default
	}
	if file == check.Stdin {
		return check.Program{}
	}
	dir, err := filepath.Abs(filepath.Dir(filepath.FromSlash(file)))
	for ; err == nil; dir = filepath.Dir(dir) {
		known, errRead := check.ReadModule(c.o.Tree, filepath.Join(dir, "go.mod"))
		if errRead == nil || !errors.Is(errRead, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			return known // nothing where it cannot be read, and that is reported by itself
		}
		if _, errGit := os.Stat(filepath.Join(dir, ".git")); errGit == nil {
			break // what lies above the repository is another's
		}
	}
	return check.Program{}
}

// released is the image whose Go builds what is in the last stage, and its version; empty: not
// known. A stage whose commands build nothing is there for its tools.
func released(stages []stage) (image, version string) {
	seen := map[int]bool{}
	var visit func(at int)
	visit = func(at int) {
		if at < 0 || seen[at] || version != "" {
			return
		}
		seen[at] = true
		s := stages[at]
		builds := func(command string) bool { return building().MatchString(tooling().ReplaceAllString(command, "")) }
		own := len(s.runs) == 0 || slices.ContainsFunc(s.runs, builds)
		if m := toolchain().FindStringSubmatch(s.base); m != nil && own && (m[2] != "" || image == "") {
			image, version = cmp.Or(m[1], m[3]), m[2]
		}
		base := stageAt(stages[:at], s.base)
		if base >= 0 && own && len(s.runs) > 0 { // what it builds is built with its base's Go
			stages[base].runs = append(stages[base].runs, s.runs...)
		}
		visit(base)
		for _, from := range s.from {
			visit(stageAt(stages[:at], from))
		}
	}
	visit(len(stages) - 1)
	return image, version
}

// stageAt is the last stage of a name or a number; -1: there is none.
func stageAt(stages []stage, name string) int {
	if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < len(stages) {
		return n
	}
	for i, s := range slices.Backward(stages) {
		if s.name != "" && strings.EqualFold(s.name, name) {
			return i
		}
	}
	return -1
}

var argument = pattern.Of(`\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?::?-([^{}]*))?\})`)

// filled replaces the ARGs that are before the first FROM by their defaults. One without stays.
func filled(text string, defaults map[string]string) string {
	return argument().ReplaceAllStringFunc(text, func(use string) string {
		m := argument().FindStringSubmatch(use)
		return cmp.Or(defaults[m[1]+m[2]], m[3], use)
	})
}

func stagesOf(instructions []*parser.Node) (stages []stage) {
	defaults := map[string]string{}
	for _, n := range instructions {
		name := strings.ToUpper(n.Value)
		if name == "ARG" && len(stages) == 0 {
			for _, arg := range arguments(n) {
				key, value, _ := strings.Cut(arg, "=")
				defaults[key] = filled(unquote(value), defaults)
			}
		}
		if name == "FROM" {
			s := stage{line: n.StartLine, starts: map[string]*parser.Node{}}
			args := arguments(n)
			if len(args) > 0 {
				s.base = filled(args[0], defaults)
			}
			if len(args) == 3 && strings.EqualFold(args[1], "AS") {
				s.name = args[2]
			}
			stages = append(stages, s)
		}
		if len(stages) == 0 {
			continue
		}
		s := &stages[len(stages)-1]
		for _, flag := range n.Flags {
			if m := filesOf().FindStringSubmatch(flag); m != nil {
				s.from = append(s.from, m[1])
			}
		}
		switch name {
		case "RUN":
			command := strings.Join(arguments(n), " ")
			for _, d := range n.Heredocs {
				command += "\n" + d.Content
			}
			s.runs, s.refers = append(s.runs, command), s.refers || taking().MatchString(command)
		case "ENTRYPOINT", "CMD":
			s.starts[name] = n
		case "ENV":
			// Name, value and separator, of each.
			args := arguments(n)
			for i := 0; i+2 < len(args); i += 3 {
				s.env = append(s.env, named{args[i], imageVariable(args[i+1], n)})
				s.refers = s.refers || args[i] != variableName && taking().MatchString(args[i+1])
			}
		default:
			s.refers = s.refers || taking().MatchString(n.Original)
		}
	}
	return stages
}

var taking = pattern.Of(`\$\{?GOMAXPROCS\b`)

// literalDollar is what looks as if a shell replaced it, and stays in an image as it is.
var literalDollar = pattern.Of(`\\\$|\$\(`)

// imageVariable is one of ENV. No shell runs: $(nproc) and what is in backticks stay.
func imageVariable(value string, n *parser.Node) variable {
	v := variable{state: facts.Known, value: unquote(value), source: "ENV", line: n.StartLine, column: 1, last: n.EndLine}
	if strings.Contains(literalDollar().ReplaceAllString(value, ""), "$") {
		return v.unknown("the build fills it in")
	}
	return v.filledIn(false)
}

func arguments(n *parser.Node) (args []string) {
	for next := n.Next; next != nil; next = next.Next {
		args = append(args, next.Value)
	}
	return args
}
