//go:build linux

package cli

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/procfit/procfit/internal/check/binary/binarytest"
)

// goProgram is the program that VERSION MODULE [GODEBUG] describe.
func goProgram(ts *testscript.TestScript, args []string) binarytest.Program {
	p := binarytest.Program{GoVersion: args[0], Module: args[1]}
	if len(args) > 2 {
		p.GODEBUG = args[2]
	}
	return p
}

// scriptGoProgram makes a file that tells of itself as a Go program does:
// goprogram FILE VERSION MODULE [GODEBUG].
func scriptGoProgram(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: goprogram FILE VERSION MODULE [GODEBUG]")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), goProgram(ts, args[1:]).Bytes(), 0o755))
}

// scriptGoImage makes an image's archive: goimage FILE NAME CONFIG VERSION MODULE [GODEBUG].
func scriptGoImage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 5 {
		ts.Fatalf("usage: goimage FILE NAME CONFIG VERSION MODULE [GODEBUG]")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), binarytest.Image(ts, args[1], goProgram(ts, args[3:]), args[2]), 0o644))
}
