package scripts

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/procfit/procfit/internal/cli/schematest"
)

// inside guards the working directory and the environment, of which a process has only one.
var inside sync.Mutex

// scriptCall (call procfit ARGUMENT…) runs procfit inside the test's process, which
// saves a process per line. Use it for what ends by itself and starts nothing: usage
// errors, plans, checks, reports. Use exec for what reads its own process or standard
// input, waits for a signal, or starts a target.
func scriptCall(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || args[0] != "procfit" {
		ts.Fatalf("usage: call procfit [ARGUMENT…]")
	}
	if code := callMain(ts, args[1:]); (code != 0) != neg {
		ts.Fatalf("unexpected exit code %d", code)
	}
}

// scriptReturns (returns CODE procfit ARGUMENT…) is call for a command that must end with the code.
func scriptReturns(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || args[1] != "procfit" {
		ts.Fatalf("usage: returns CODE procfit [ARGUMENT…]")
	}
	if code := strconv.Itoa(callMain(ts, args[2:])); code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// callMain runs procfit in the directory and the environment of the script.
func callMain(ts *testscript.TestScript, args []string) int {
	environ := environOf(ts)
	stdout, stderr := ts.Stdout(), ts.Stderr()
	inside.Lock()
	defer inside.Unlock()
	dir, err := os.Getwd()
	ts.Check(err)
	defer setEnviron(os.Environ())
	setEnviron(environ)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer func() { ts.Check(os.Chdir(dir)) }()
	var printed bytes.Buffer
	code := procfit(context.Background(), args, new(bytes.Buffer), io.MultiWriter(stdout, &printed), stderr)
	known, err := schematest.Load()
	ts.Check(err)
	ts.Check(known.Check(printed.Bytes()))
	return code
}

var variable = regexp.MustCompile(`(?m)^(?:\[.*\] )?(?:env|freeport) (\w+)`)

// environOf is the script's environment: what setup gave it and what it set itself.
func environOf(ts *testscript.TestScript) []string {
	names := ts.Value(namesKey{}).([]string)
	text, err := os.ReadFile(filepath.Join(ts.Value(dirKey{}).(string), ts.Name()+".txtar"))
	ts.Check(err)
	for _, set := range variable.FindAllSubmatch(text, -1) {
		names = append(names[:len(names):len(names)], string(set[1]))
	}
	environ := []string{"PWD=" + ts.MkAbs(".")}
	for _, name := range names {
		environ = append(environ, name+"="+ts.Getenv(name))
	}
	return environ
}

func setEnviron(environ []string) {
	os.Clearenv()
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		_ = os.Setenv(name, value) // what the kernel or a script gave has a name
	}
}
