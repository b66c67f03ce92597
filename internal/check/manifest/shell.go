package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

type fault struct {
	line, column int
	kind         origin
	partly       bool   // the value is a part or a multiple of the CPUs of the machine
	value        string // that the runtime ignores, of kind ignored
}

type reading struct {
	faults  []fault
	calls   []string // the commands that it starts
	program string   // the command that it ends with; "" where it is long
	sets    bool     // it sets GOMAXPROCS, or another script or text that it evaluates may
	bare    bool     // the value is for the shell alone, unless the variable is exported before
	asks    bool     // it reads the variable, as to keep a value that it has
}

// machine reports whether what the script starts gets the CPUs of the machine.
func (r reading) machine(exported bool) bool {
	return r.applies(exported) && slices.ContainsFunc(r.faults, func(f fault) bool { return f.kind == ofMachine }) &&
		!slices.ContainsFunc(r.faults, func(f fault) bool { return f.partly || f.kind != ofMachine && f.kind != unexported })
}

func (r reading) alone(exported bool) bool {
	return !exported && slices.ContainsFunc(r.faults, func(f fault) bool { return f.kind == unexported })
}

// applies reports whether a program gets the value; exported: its environment has the variable already.
func (r reading) applies(exported bool) bool {
	if exported {
		return !r.asks
	}
	return !r.bare
}

// shell reads one script, and follows values through variables and the output of functions. Where
// it is not sure, there is no fault: a script that is sourced may export anything, and any use of
// the variable but to print it may be what it is for.
type shell struct {
	text   []byte
	values map[string]origin // of variables, and as "name()" of functions
	bare   []syntax.Pos      // assignments for the shell alone
	faults []fault
	passed bool         // exported or used, or it may be
	sets   bool         // it is assigned, or it may be
	last   *syntax.Word // that begins the last command that may be a program
	calls  []string     // the commands that it starts
	end    syntax.Pos
	left   int // nodes that may still be visited: parts are visited again for each part around them
}

const (
	variableName = "GOMAXPROCS"
	mostScript   = 64 << 10 // bytes; what starts a program is smaller
	mostVisits   = 1 << 20
)

// The error is of a text that cannot be parsed: a shell may take what the parser does not.
func readShell(text []byte) (r reading, err error) {
	if len(text) > mostScript {
		return reading{sets: true}, nil
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(text), "")
	var bad syntax.ParseError
	if errors.As(err, &bad) {
		return reading{sets: true}, fmt.Errorf("procfit cannot parse line %d: %s", bad.Pos.Line(), bad.Text)
	}
	if err != nil {
		return reading{sets: true}, err
	}
	s := &shell{text: text, values: map[string]origin{}, left: mostVisits}
	walk(f, s.visit)
	if s.left < 0 {
		return reading{calls: s.calls, sets: true}, nil
	}
	bare := len(s.bare) > 0 && !s.passed
	if bare && s.last != nil && s.last.Pos().After(s.bare[0]) {
		s.fault(s.bare[0], unexported)
	}
	if slices.ContainsFunc(s.faults, func(f fault) bool { return f.kind == divided || f.kind == roundedUp }) {
		s.faults = slices.DeleteFunc(s.faults, func(f fault) bool { return f.kind == ofMachine }) // for where there is no limit
	}
	asks := bytes.Contains(text, []byte("$"+variableName)) || bytes.Contains(text, []byte("${"+variableName))
	return reading{s.faults, s.calls, s.program(), s.sets, bare, asks}, nil
}

func (s *shell) fault(at syntax.Pos, kind origin) *fault {
	s.faults = append(s.faults, fault{line: int(at.Line()), column: int(at.Col()), kind: kind})
	return &s.faults[len(s.faults)-1]
}

func (s *shell) program() string {
	if s.last == nil {
		return ""
	}
	text := string(s.text[s.last.Pos().Offset():s.end.Offset()])
	if len(text) > 80 || strings.ContainsAny(text, "\n\\") || strings.HasPrefix(text, "-") || strings.Contains(text, variableName) {
		return ""
	}
	return text
}

// printing are commands that only show or compare a value, ours others that are no program.
var (
	printing = []string{"echo", "printf", "test", "[", "logger"}
	ours     = []string{"exit", "return", "set", "shift", "true", "false", "cd", "trap", "unset", "read", "break", "continue", "wait", "local", "ulimit", "umask", ":"}
)

func (s *shell) visit(n syntax.Node) bool {
	if s.left--; s.left < 0 {
		return false
	}
	switch n := n.(type) {
	case *syntax.Comment, *syntax.TestClause:
		return false
	case *syntax.FuncDecl:
		walk(n.Body, s.visit)
		if n.Name != nil {
			s.values[n.Name.Value+"()"] = s.origin(n.Body)
		}
		return false
	case *syntax.Stmt:
		s.reads(n)
		if slices.ContainsFunc(n.Redirs, func(r *syntax.Redirect) bool { return r.Op != syntax.DplOut }) {
			s.uses(n)
		}
	case *syntax.BinaryCmd:
		if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
			s.uses(n.X)
		}
	case *syntax.CmdSubst: // what it starts is not the program
		s.uses(n)
		last, end := s.last, s.end
		for _, inner := range n.Stmts {
			walk(inner, s.visit)
		}
		s.last, s.end = last, end
		return false
	case *syntax.DeclClause:
		s.declares(n)
		return false
	case *syntax.CallExpr:
		return s.command(n)
	case *syntax.Lit:
		s.passed = s.passed || strings.Contains(n.Value, variableName)
	case *syntax.SglQuoted:
		s.passed = s.passed || strings.Contains(n.Value, variableName)
	}
	return true
}

// uses takes what is not only printed: a file or another command gets it.
func (s *shell) uses(n syntax.Node) { walk(n, s.name) }

func (s *shell) name(n syntax.Node) bool {
	l, ok := n.(*syntax.Lit)
	s.passed = s.passed || ok && strings.Contains(l.Value, variableName)
	s.left--
	return !s.passed && s.left >= 0
}

// reads takes `read quota period < /sys/fs/cgroup/cpu.max`.
func (s *shell) reads(n *syntax.Stmt) {
	call, ok := n.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 || call.Args[0].Lit() != "read" {
		return
	}
	for _, r := range n.Redirs {
		for _, w := range call.Args[1:] {
			s.values[w.Lit()] = s.origin(r.Word)
		}
	}
}

func (s *shell) declares(n *syntax.DeclClause) {
	for _, a := range n.Args {
		switch {
		case a.Name == nil: // an option, or names that the script makes up, perhaps with values
			made := a.Value != nil && !strings.HasPrefix(a.Value.Lit(), "-")
			s.passed, s.sets = s.passed || made, s.sets || made
		case a.Name.Value == variableName:
			s.passed, s.sets = true, true
			if n.Variant.Value == "export" {
				s.constant(a)
			}
			fallthrough
		default:
			s.assigns(a)
		}
	}
}

func (s *shell) command(n *syntax.CallExpr) bool {
	for _, a := range n.Assigns {
		s.assigns(a)
	}
	if len(n.Args) == 0 {
		for _, a := range n.Assigns {
			if a.Name != nil && a.Name.Value == variableName {
				s.bare = append(s.bare, a.Pos())
			} else if a.Value != nil {
				walk(a.Value, s.visit)
			}
		}
		return false
	}
	for _, a := range n.Assigns {
		s.constant(a)
	}
	first := n.Args[0]
	name := first.Lit()
	switch {
	case slices.Contains(printing, name):
		return false
	case name == "eval" || name == "." || name == "source":
		s.passed, s.sets = true, true
	case name == "set":
		s.setsOptions(n.Args[1:])
	case name == ":":
		s.defaults(n)
		return false
	case slices.Contains(ours, name):
	default:
		args := n.Args
		if name == "exec" && len(n.Args) > 1 {
			args, first = n.Args[1:], n.Args[1]
		}
		if i := slices.IndexFunc(args, func(w *syntax.Word) bool { return path.Base(w.Lit()) == "env" }); i >= 0 { // also behind tini --
			s.inEnv(args[i+1:])
		}
		if name != "exec" || len(n.Args) > 1 { // else it redirects the shell's own output
			s.last, s.end = first, n.End()
			s.calls = append(s.calls, first.Lit())
		}
	}
	return true
}

func (s *shell) inEnv(args []*syntax.Word) {
	for _, w := range args {
		if l, ok := w.Parts[0].(*syntax.Lit); ok && strings.HasPrefix(l.Value, variableName+"=") {
			s.sets = true
			s.computed(w.Pos(), s.origin(w))
		}
	}
}

// setsOptions takes the options that export everything, and `set -- $(cat /sys/fs/cgroup/cpu.max)`.
func (s *shell) setsOptions(args []*syntax.Word) {
	for _, w := range args {
		option := w.Lit()
		if option == "allexport" || strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--") && strings.Contains(option, "a") {
			s.passed = true
		}
		if o := s.origin(w); o != 0 {
			s.values["1"], s.values["2"] = o, o
		}
	}
}

// defaults takes : ${GOMAXPROCS:=4}, which assigns without export, too.
func (s *shell) defaults(n *syntax.CallExpr) {
	walk(n, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		if !ok || p.Param == nil || p.Exp == nil || p.Exp.Op != syntax.AssignUnset && p.Exp.Op != syntax.AssignUnsetOrNull {
			return true
		}
		s.values[p.Param.Value] = s.origin(p)
		if p.Param.Value == variableName {
			s.sets = true
			s.bare = append(s.bare, p.Pos())
			s.computed(p.Pos(), s.origin(p))
		}
		return false
	})
}

// constant finds a text that a program gets and its runtime ignores, as in GOMAXPROCS='$(nproc)'.
func (s *shell) constant(a *syntax.Assign) {
	if a.Name == nil || a.Name.Value != variableName || a.Value == nil || len(a.Value.Parts) != 1 {
		return
	}
	text := a.Value.Lit()
	switch part := a.Value.Parts[0].(type) {
	case *syntax.SglQuoted:
		text = part.Value
	case *syntax.DblQuoted:
		text = (&syntax.Word{Parts: part.Parts}).Lit()
	}
	if isPlaceholder(text) || text == "" {
		return
	}
	if n, err := strconv.ParseInt(text, 10, 32); err != nil || n <= 0 {
		s.fault(a.Pos(), ignored).value = text
	}
}

func (s *shell) assigns(a *syntax.Assign) {
	s.sets = s.sets || a.Name != nil && a.Name.Value == variableName
	if a.Name == nil || a.Value == nil {
		return
	}
	o := s.origin(a.Value)
	if before := s.values[a.Name.Value]; a.Value.Lit() != "" && before != 0 { // a value for some cases, such as the lowest
		if before&ofMachine != 0 {
			s.values[a.Name.Value] |= partly
		}
		for i := range s.faults {
			s.faults[i].partly = s.faults[i].partly || s.faults[i].kind == ofMachine && a.Name.Value == variableName
		}
		return
	}
	if before := s.values[a.Name.Value]; o&ofMachine != 0 && before&ofLimit != 0 {
		o = ofLimit // by the machine only where there is no limit
	}
	s.values[a.Name.Value] = o
	if a.Name.Value == variableName {
		s.computed(a.Pos(), o)
	}
}

func (s *shell) computed(at syntax.Pos, o origin) {
	switch byLimit := o & (divided | roundedUp); {
	case byLimit != 0:
		s.fault(at, byLimit)
	case o&ofMachine != 0 && o&ofLimit == 0:
		s.fault(at, ofMachine).partly = o&partly != 0
	}
}

type origin uint8

const (
	ofLimit    origin = 1 << iota // from the kernel's file
	ofSum                         // something is added
	divided                       // a limit, by a division that rounds down
	roundedUp                     // a limit, by a division with a sum before or after it
	ofMachine                     // the number of its CPUs
	partly                        // of that, a part or a multiple
	unexported                    // for the shell alone; of no value, but of a fault
	ignored                       // a text that the runtime ignores; of no value, but of a fault
)

// Commands, arguments and files that have the number of CPUs of the machine.
var (
	machineCommands  = []string{"nproc", "lscpu"}
	machineArguments = []string{"_NPROCESSORS_ONLN", "_NPROCESSORS_CONF", "hw.ncpu", "hw.logicalcpu"} // of getconf and sysctl
	machineFiles     = []string{"/proc/cpuinfo", "/sys/devices/system/cpu/"}
)

func (s *shell) origin(n syntax.Node) (o origin) {
	walk(n, func(n syntax.Node) bool {
		if s.left--; s.left < 0 {
			return false
		}
		switch n := n.(type) {
		case *syntax.Lit:
			o |= s.ofText(n.Value)
		case *syntax.SglQuoted:
			o |= s.ofText(n.Value)
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				return true
			}
			name := n.Args[0].Lit()
			if name == "expr" {
				o |= s.expr(n.Args[1:])
				return false
			}
			if slices.Contains(machineCommands, path.Base(name)) {
				o |= ofMachine
				if slices.ContainsFunc(n.Args, func(w *syntax.Word) bool { return strings.HasPrefix(w.Lit(), "--ignore") }) {
					o |= partly
				}
			}
			o |= s.values[name+"()"]
		case *syntax.BinaryArithm:
			o |= calculated(n.Op, s.origin(n.X), s.origin(n.Y))
			return false
		}
		return true
	})
	return o
}

// ofText takes the kernel's files, and variables: in arithmetic they have no dollar.
func (s *shell) ofText(t string) origin {
	o := s.values[t]
	if strings.Contains(t, "cpu.cfs_quota_us") || strings.HasSuffix(t, "cpu.max") {
		o |= ofLimit
	}
	if slices.Contains(machineArguments, t) || slices.ContainsFunc(machineFiles, func(file string) bool { return strings.Contains(t, file) }) {
		o |= ofMachine
	}
	return o
}

// expr takes `expr $quota / $period`, from left to right.
func (s *shell) expr(args []*syntax.Word) (o origin) {
	op := syntax.BinAritOperator(0)
	for _, w := range args {
		from, to := w.Pos().Offset(), w.End().Offset()
		switch strings.Trim(string(s.text[from:to]), `"'\`) { // '*' and \* have no quotes for expr
		case "/":
			op = syntax.Quo
		case "+":
			op = syntax.Add
		case "-", "*", "%":
			op = syntax.Mul
		case "(", ")":
			op = 0
		default:
			if op == 0 {
				o |= s.origin(w)
			} else {
				o = calculated(op, o, s.origin(w))
			}
		}
	}
	return o
}

func calculated(op syntax.BinAritOperator, x, y origin) origin {
	o := x | y
	switch {
	case op == syntax.Quo && x&ofLimit != 0 && x&ofSum != 0, op == syntax.Add && o&divided != 0:
		o = o&^divided | roundedUp
	case op == syntax.Quo && x&ofLimit != 0:
		o |= divided
	}
	if op == syntax.Add {
		o |= ofSum
	}
	switch {
	case op == syntax.TernQuest: // one that is kept below a number
		o &^= ofMachine
	case o&ofMachine != 0:
		o |= partly
	}
	return o
}

func walk(n syntax.Node, visit func(syntax.Node) bool) {
	syntax.Walk(n, func(n syntax.Node) bool { return n != nil && visit(n) })
}
