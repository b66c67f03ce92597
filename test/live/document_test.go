package live

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
)

var update = flag.Bool("update", false, "write docs/evidence/live-values.md from this run")

const page = "../../docs/evidence/live-values.md"

const introduction = `# What is read of a running Go program

procfit reads GOMAXPROCS and more out of a running Go program's memory, without its cooperation and without stopping it. Here that is held against the programs themselves: each cell below is one program, built by a released Go, that was started without GOMAXPROCS, with 1 or with 3, then called runtime.GOMAXPROCS(5), then, where there is one, runtime.SetDefaultGOMAXPROCS(). A cell agrees if every value that was read then is the one that the program reports: all of them, in all three states, the latency histogram in each of its 162 counts.

| value | in the program | what the truth is |
|---|---|---|
| GOMAXPROCS | runtime.gomaxprocs | runtime.GOMAXPROCS(0) |
| CPUs | runtime.ncpu; from Go 1.25 numCPUStartup | runtime.NumCPU() |
| custom | runtime.sched.customGOMAXPROCS, from Go 1.25: GOMAXPROCS was set, and will not be adapted | how it was started, what it called |
| latency | runtime.sched.timeToRun, from Go 1.20: how long goroutines waited to run; one in 8 is sampled | the metric /sched/latencies:seconds |

Where a program has a symbol table, the addresses come from there; in a stripped one from the runtime's machine code.

## What is not read

- Stripped programs of Go 1.17 and older, and of machines that are not amd64 or arm64: nothing.
- Of releases that are not in the table, of development versions and betas, and of the experiment staticlockranking: no custom, no latency. Vendors' builds of a release that is there are read like it, if the size of runtime.sched, or in a stripped one the code of four functions, confirms the layout.
- A program whose clock is set ahead of ours by a time namespace: no custom, no latency.
- Of a process whose executable is not Go, one that is not the first Go library or program among its mappings: nothing. The first is read like the programs here, but no cell of the table is of one.

`

// document is docs/evidence/live-values.md.
func document(results []result, arm64 []cell, now time.Time) []byte {
	var b bytes.Buffer
	b.WriteString(introduction)
	agreed := 0
	for _, r := range results {
		if len(r.wrong) == 0 {
			agreed++
		}
	}
	fmt.Fprintf(&b, "**%s: %d of %d cells agree.** Of arm64 programs, decoded without being run, the addresses in %d of %d are those of their symbol tables.\n\n",
		now.Format(time.DateOnly), agreed, len(results), len(arm64), len(arm64Plan(full())))
	writeCells(&b, results)
	writeSetting64(&b, arm64)
	b.WriteString("## To repeat it\n\n    go test ./test/live            # every pair of a release, a way to build and stripped or not\n    PROCFIT_FULL=1 go test ./test/live -timeout 60m -update      # every cell; writes this page\n\nGo fetches the toolchains itself; cgo needs gcc.\n")
	return b.Bytes()
}

// writeCells has a row for each release and a column for each way to build.
func writeCells(b *bytes.Buffer, results []result) {
	b.WriteString("## Cells that agree, of all\n\n| release | read |")
	for _, m := range modes {
		fmt.Fprintf(b, " %s | stripped |", m.name)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|---|", len(modes)) + "\n")
	for _, release := range releases {
		fmt.Fprintf(b, "| %s | %s |", release.toolchain, release.values())
		for _, m := range modes {
			for _, stripped := range []bool{false, true} {
				all, agreed := 0, 0
				for _, r := range results {
					if r.release.toolchain == release.toolchain && r.mode.name == m.name && r.stripped == stripped {
						all++
						if len(r.wrong) == 0 {
							agreed++
						}
					}
				}
				fmt.Fprintf(b, " %d/%d |", agreed, all)
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}

func (r release) values() string {
	values := "GOMAXPROCS, CPUs"
	if r.custom {
		values += ", custom"
	}
	if r.latency {
		values += ", latency"
	}
	return values
}

func writeSetting64(b *bytes.Buffer, agree []cell) {
	b.WriteString("## arm64 programs decoded\n\n| way to build | releases |\n|---|---|\n")
	for _, m := range arm64Modes() {
		var names []string
		for _, c := range agree {
			if c.mode.name == m.name {
				names = append(names, strings.TrimPrefix(c.release.toolchain, "go"))
			}
		}
		fmt.Fprintf(b, "| %s | %s |\n", m.name, strings.Join(names, ", "))
	}
	b.WriteString("\n")
}

func TestDocument(t *testing.T) {
	cells := plan(true)
	good := result{cell: cells[len(cells)-1], setting: "1"}
	bad := good
	bad.wrong = []string{"x"}
	text := string(document([]result{good, bad}, arm64Plan(true)[:1], time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)))
	for _, want := range []string{
		"**2026-02-03: 1 of 2 cells agree.**", " 0/0 | 1/2 |\n", "| exe | 1.18.10 |", "| go1.24.6 | GOMAXPROCS, CPUs, latency |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// TestPage finds a page that was written before the releases, the ways to build or
// the introduction were changed, and one that tells of cells that do not agree.
func TestPage(t *testing.T) {
	b := must.Get(os.ReadFile(page))(t)
	if !bytes.HasPrefix(b, []byte(introduction)) {
		t.Error("another introduction: run with PROCFIT_FULL=1 and -update")
	}
	for _, r := range releases {
		want := fmt.Sprintf("| %s | %s |%s\n", r.toolchain, r.values(), strings.Repeat(" 3/3 |", 2*len(modes)))
		if !strings.Contains(string(b), want) {
			t.Errorf("the row of %s is not %q", r.toolchain, want)
		}
	}
}
