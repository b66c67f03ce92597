package cli

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/cli/entry"
	"github.com/procfit/procfit/internal/cli/scripts"
	"github.com/procfit/procfit/test/built"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

var updateProgramHelp = flag.Bool("update-help", false, "write entry/help.txt")

// TestProgramHelp: procfit-run prints the help of procfit run, with its own name.
func TestProgramHelp(t *testing.T) {
	const file = "entry/help.txt"
	want := ofProgram(printedBy(t, "run", "--help"))
	if strings.Contains(want, "procfit run") || !strings.Contains(want, `["procfit-run", "--", "/app/server"]`) {
		t.Errorf("the help is not that of %s:\n%s", entry.Name, want)
	}
	if *updateProgramHelp {
		must.Write(t, file, want)
		return
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != want {
		t.Errorf("%s does not match the command; run go test ./internal/cli -run TestProgramHelp -update-help", file)
	}
}

// TestProgramIsTheCommand: procfit-run reads a command line as procfit run does, and prints
// the same. Nothing is started here; TestProgramScript does.
func TestProgramIsTheCommand(t *testing.T) {
	for _, words := range [][]string{
		{}, {"--"}, {"-"}, {"--policy"}, {"--policy="}, {"--policy", "fits", "--", "sh"}, {"--policy=jvm", "--dry-run", "--", "sh"},
		{"--polic", "fit", "--", "sh"}, {"--nothing-like-it", "--", "sh"}, {"-x", "--", "sh"}, {"-qx", "--", "sh"}, {"-q=perhaps", "--", "sh"},
		{"---x", "--", "sh"}, {"--=x", "--", "sh"}, {"--force=maybe", "--", "sh"}, {"--force=false", "--dry-run", "--", "sh"},
		{"--reserve"}, {"--reserve", "-1", "--", "sh"}, {"--reserve", "1", "--policy", "jvm", "--", "sh"}, {"--reserve", "500m", "--dry-run", "sh", "--force"},
		{"--verbose", "-q", "--", "sh"}, {"--verbose", "-q"}, {"--dry-run", "sh", "-c", "true"}, {"--dry-run", "sh", "--help-all"}, {"-q=false", "--dry-run", "--", "sh", "--", "x"},
		{"--dry-run", "--", "curl", "-H", "Authorization: Bearer abc", "http://h"}, {"--dry-run", "--", "./nowhere"}, {"--token", "abc"}, {"--reserve", "abc", "--", "sh"},
		{"--help"}, {"-h"}, {"-qh"}, {"--help", "--policy", "fits"}, {"--help=false", "--dry-run", "--", "sh"},
	} {
		var commandOut, commandErr, programOut, programErr bytes.Buffer
		commandCode := Main(context.Background(), append([]string{"run"}, words...), nil, &commandOut, &commandErr)
		programCode := entry.Main(words, &programOut, &programErr)
		if want := ofProgram(commandOut.String()); commandCode != programCode || programOut.String() != want || programErr.String() != ofProgram(commandErr.String()) {
			t.Errorf("%q: procfit run exits with %d and prints %q and %q, procfit-run with %d, %q and %q", words,
				commandCode, want, &commandErr, programCode, &programOut, &programErr)
		}
	}
}

// TestProgramScript runs the script of procfit run for procfit-run.
func TestProgramScript(t *testing.T) {
	dir := t.TempDir()
	// returns calls procfit inside of this process; exitcode starts any command.
	text := strings.NewReplacer("returns 2 "+entry.Name, "exitcode 2 "+entry.Name).Replace(ofProgram(must.Read(t, "scripts/look/testdata/run.txtar")))
	must.Write(t, filepath.Join(dir, "run.txtar"), text)
	scripts.Run(t, dir)
}

// What procfit-run may cost in an image and at a start.
const (
	largestProgram = 4_000_000 // bytes
	longestStart   = 5 * time.Millisecond
)

// TestProgramIsSmall builds procfit-run as a release does. What it adds to the start of true
// is the time from its own exec to that of true. Other tests use the CPUs meanwhile, so that
// the fastest of many starts counts.
func TestProgramIsSmall(t *testing.T) {
	need.Everything(t, "builds a program with flags of its own")
	built.ReadsProcfit(t)
	program := filepath.Join(t.TempDir(), entry.Name)
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "../../cmd/"+entry.Name)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	file := must.Get(os.Stat(program))(t)
	info := must.Get(buildinfo.ReadFile(program))(t)
	var modules []string
	for _, d := range info.Deps {
		modules = append(modules, d.Path)
	}
	if want := []string{"github.com/procfit/procfit/maxprocs", "golang.org/x/perf"}; !slices.Equal(modules, want) {
		t.Errorf("it links %q, not only %q", modules, want)
	}
	took := func(command ...string) time.Duration {
		var all []time.Duration
		for range 300 {
			start := time.Now()
			if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil || len(out) > 0 {
				t.Fatalf("%v: %s", err, out)
			}
			all = append(all, time.Since(start))
		}
		slices.Sort(all)
		t.Logf("%v: fastest %v, median %v", command, all[0], all[len(all)/2])
		return all[0]
	}
	start := took(program, "--", "true") - took("true")
	t.Logf("%d bytes; it starts true in %v", file.Size(), start)
	if file.Size() > largestProgram || start > longestStart {
		t.Errorf("%d bytes, starts true in %v: at most %d and %v", file.Size(), start, largestProgram, longestStart)
	}
}

// ofProgram is a text about procfit run as one about procfit-run.
func ofProgram(text string) string {
	return strings.NewReplacer("procfit run", entry.Name, `"procfit", "run"`, `"`+entry.Name+`"`, alsoAsProgram, "").Replace(text)
}
