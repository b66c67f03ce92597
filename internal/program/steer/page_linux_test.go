//go:build !portable && (amd64 || arm64)

package steer

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/test/must"
)

var update = flag.Bool("update", false, "write the table of calls in docs/evidence/live.md from the folder PROCFIT_CALLS")

// tally is what the calls into one program came to: a file in the folder of PROCFIT_CALLS, if
// there is one.
type tally struct {
	Program, Go string
	Calls       int // that were made
	Refused     int
	Ended       bool  // the program has
	Wrong       int64 // answers of its own that it found wrong
	Requests    int64
	Failed      int64 // or not answered within a minute
	// The longest that the goroutine of a call was held, that runtime.GOMAXPROCS took, and that a
	// request took.
	Held, Stopped, Slowest time.Duration
}

// tallied makes calls into a program of a release, "": that of the program, unless the folder
// has what they came to.
func tallied(t *testing.T, program, release string, calls func(t *testing.T) tally) {
	t.Helper()
	t.Run(program+"/"+release, func(t *testing.T) {
		dir := os.Getenv("PROCFIT_CALLS")
		file := filepath.Join(dir, strings.TrimSpace(strings.ReplaceAll(program, "/", "-")+" "+release)+".json")
		if _, err := os.Stat(file); dir != "" && err == nil {
			t.Skip("it is in the folder of PROCFIT_CALLS")
		} else if dir != "" && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		y := calls(t)
		y.Program = program
		b, err := json.Marshal(y)
		if err == nil && dir != "" {
			err = os.WriteFile(file, b, 0o644)
		}
		must.OK(t, err)
	})
}

const page = "../../../docs/evidence/live.md"

// programs are those of the table, in its order, and what they are called there.
var programs = [][2]string{
	{"net/http", "net/http"},
	{"grpc-go", "grpc-go"},
	{"cgo", "cgo"},
	{"race", "built with `-race`"},
	{"pie", "PIE"},
	{"cgo pie", "cgo and PIE"},
	{"static", "static, with C"},
	{"musl", "static, with musl"},
	{"unoptimised", "built with `-N -l`"},
	{"locked signals", "threads that are locked to goroutines, with signal handlers"},
	{"collect", "a collector without a pause"},
	{"profile", "a CPU profile"},
	{"compute=3 profile signals", "goroutines that never wait, with a CPU profile and signal handlers"},
	{"threads=5000", "5,000 threads"},
	{"caddy", "caddy of Debian"},
	{"etcd", "etcd of Debian"},
	{"prometheus", "prometheus of Debian"},
	{"nats-server", "nats-server of Debian"},
	{"kubelet", "kubelet of Kubernetes"},
}

const (
	section     = "## Calls from outside\n"
	sectionEnds = "\n## "
)

// sectionOf is the section of the page that has these tallies.
func sectionOf(tallies []tally) string {
	var b bytes.Buffer
	var all tally
	ended := 0
	for _, y := range tallies {
		all.add(y)
		if y.Ended {
			ended++
		}
	}
	fmt.Fprintf(&b, section+`
%s and %s have the program call %s, [from outside](../explanation/how-a-running-program-is-changed.md). In %s calls in %d servers under load, with other work on the same two CPUs, %d programs ended, and %s of %s requests failed or took longer than a minute. Programs that check their own compare-and-swap loops, floating-point results and signals found %d wrong answers. %s calls were refused.

| program | Go | calls | refused | requests | failed | longest request | longest hold of a goroutine | longest call |
|---|---|---:|---:|---:|---:|---:|---:|---:|
`, "`procfit set`", "`live`", "`runtime.GOMAXPROCS`", number.Count(float64(all.Calls)), len(tallies), ended, number.Count(float64(all.Failed)), number.Count(float64(all.Requests)), all.Wrong, number.Count(float64(all.Refused)))
	for _, p := range programs {
		var row tally
		var releases []string
		for _, y := range tallies {
			if y.Program == p[0] {
				row.add(y)
				releases = append(releases, minor(y.Go))
			}
		}
		if len(releases) > 0 {
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %s | %d | %s | %s | %s |\n", p[1], strings.Join(releases, ", "), number.Count(float64(row.Calls)), row.Refused, number.Count(float64(row.Requests)), row.Failed, number.Duration(row.Slowest), number.Duration(row.Held), number.Duration(row.Stopped))
		}
	}
	b.WriteString(`
Each row is the sum over its releases of Go, and the longest of them.

    PROCFIT_FULL=1 PROCFIT_CALLS=FOLDER go test ./internal/program/steer -timeout 6h -v -update

What the folder has is not run again.
`)
	return b.String()
}

// minor is a release without its patch.
func minor(goVersion string) string {
	parts := strings.Split(strings.TrimPrefix(goVersion, "go"), ".")
	return strings.Join(parts[:min(2, len(parts))], ".")
}

func (y *tally) add(z tally) {
	y.Calls, y.Refused, y.Requests, y.Failed, y.Wrong = y.Calls+z.Calls, y.Refused+z.Refused, y.Requests+z.Requests, y.Failed+z.Failed, y.Wrong+z.Wrong
	y.Held, y.Stopped, y.Slowest = max(y.Held, z.Held), max(y.Stopped, z.Stopped), max(y.Slowest, z.Slowest)
}

// TestCallsPage writes the table from the folder, with -update.
func TestCallsPage(t *testing.T) {
	b := must.Get(os.ReadFile(page))(t)
	before, rest, found := strings.Cut(string(b), section)
	old, after, more := strings.Cut(rest, sectionEnds)
	if !found || !more {
		t.Fatalf("%s has no section %q", page, section)
	}
	if !*update {
		for line := range strings.Lines(old) {
			name, _, row := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
			if row && name != "program" && !slices.ContainsFunc(programs, func(p [2]string) bool { return p[1] == name }) {
				t.Errorf("%s has a row of %q, which the test has not", page, name)
			}
		}
		return
	}
	files, err := filepath.Glob(filepath.Join(os.Getenv("PROCFIT_CALLS"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("PROCFIT_CALLS names no folder with results: %v", err)
	}
	var tallies []tally
	for _, file := range files {
		var y tally
		if b, err = os.ReadFile(file); err == nil {
			err = json.Unmarshal(b, &y)
		}
		if err != nil || !slices.ContainsFunc(programs, func(p [2]string) bool { return p[0] == y.Program }) {
			t.Fatalf("%s: %+v, %v", file, y, err)
		}
		tallies = append(tallies, y)
	}
	text := before + sectionOf(tallies) + sectionEnds + after
	must.OK(t, os.WriteFile(page, []byte(text), 0o644))
}
