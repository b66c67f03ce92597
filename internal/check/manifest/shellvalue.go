package manifest

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// origin is where a value comes from, in bits.
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

// walk calls visit for each node in the order of the text, and goes below one if visit says so.
func walk(n syntax.Node, visit func(syntax.Node) bool) {
	syntax.Walk(n, func(n syntax.Node) bool { return n != nil && visit(n) })
}
