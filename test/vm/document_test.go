package vm

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write docs/evidence/agreement.md, or the lab's table of defaults, from this run")

const introduction = `# Agreement with real Go runtimes

procfit says which GOMAXPROCS a Go program runs with. Here that is held against the programs themselves: each cell below is one real program, built by a released Go, that was started in an emulated Linux machine and printed its own runtime.GOMAXPROCS(0); procfit, in the same machine and from outside the program, was asked ` + "`procfit explain --json --pid …`" + `, and the two numbers were compared.

The search for a program's own limit is held besides against the runtimes' own code, in thousands of random arrangements (test/goruntime), and the limits that a runtime dies of against programs that do (TestDeadlyLimits).

The cells cover every pair of values of any two factors; the rest is drawn at random, with a fixed seed. A cell whose GOMAXPROCS decides alone counts for the pairs of GOMAXPROCS only.

| factor | what it is |
|---|---|
| program | the toolchain, and the go line of go.mod |
| limit | CPUs that the program's own group may use; with one CPU or less anywhere the period is 1 s, else 100 ms |
| nesting | a group alone, or in one whose limit is half or double; the parent of a leaf of 20 CPUs has 1.5. v1 refuses a leaf more than its parent |
| cpuset | an affinity mask, or a cpuset group |
| view | host: that of the machine; unshare: a cgroup namespace of its own, with the machine's mounts; container: the same with the hierarchy mounted anew; bind: no namespace, its group bind-mounted over the hierarchy; agent: a container in which the machine's hierarchy is mounted a second time; nsfs: the hierarchy mounted after a bind-mounted namespace; covered: a tmpfs over the hierarchy, its group bind-mounted elsewhere; above: the group above its own bind-mounted over the hierarchy, and then a cgroup namespace |

`

// document is docs/evidence/agreement.md.
func document(results []result, now time.Time) []byte {
	var b bytes.Buffer
	agreed, byLimit := 0, 0
	differ := map[string]int{}
	for _, r := range results {
		if r.goProcs == r.procs {
			agreed++
		} else {
			differ[r.value(fView)]++
		}
		if r.readsLimits() && !r.masked() && r.procs < r.numCPU {
			byLimit++
		}
	}
	b.WriteString(introduction)
	fmt.Fprintf(&b, "**%s: %d of %d cells agree.** In %d of them a cgroup's limit decided, in the others the affinity or the environment.\n\n", now.Format(time.DateOnly), agreed, len(results), byLimit)
	if len(differ) > 0 {
		b.WriteString("Known differences, which the test allows in no other cells:\n\n")
		for _, view := range factors[fView].values {
			if differ[view] > 0 {
				fmt.Fprintf(&b, "- %s, %d cells: %s.\n", view, differ[view], differences[view])
			}
		}
		b.WriteString("\n")
	}
	writeTable(&b, results)
	writeAncestors(&b, results)
	b.WriteString("## To repeat it\n\n    PROCFIT_REQUIRE=1 go test ./test/vm -run Agreement                        # as in .ci/run: 300 cells on five of the twelve machines\n    PROCFIT_FULL=1 go test ./test/vm -run Agreement -timeout 60m -update      # every machine, as in .ci/full; writes this page\n\nIt needs Debian's qemu-system-x86, busybox-static and the kernel that test/vm/kernel.sh fetches, not root. Go fetches the toolchains itself.\n")
	return b.Bytes()
}

// writeTable has a row for each value of each factor, and a column for each
// program: cells that agree, of all.
func writeTable(b *bytes.Buffer, results []result) {
	programs := factors[fProgram].values
	fmt.Fprintf(b, "## Cells that agree, of all\n\n| factor | value | %s |\n|---|---|%s\n", strings.Join(programs, " | "), strings.Repeat("---|", len(programs)))
	for f := range factors {
		if f == fProgram {
			continue
		}
		for v, value := range factors[f].values {
			fmt.Fprintf(b, "| %s | %s |", factors[f].name, value)
			for p := range programs {
				all, agreed := 0, 0
				for _, r := range results {
					if int(r.cell[f]) != v || int(r.cell[fProgram]) != p {
						continue
					}
					all++
					if r.goProcs == r.procs {
						agreed++
					}
				}
				fmt.Fprintf(b, " %d/%d |", agreed, all)
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n")
}

func writeAncestors(b *bytes.Buffer, results []result) {
	b.WriteString("## An ancestor's limit\n\n64 CPUs, cgroup v2, a limit of 1.5 CPUs above the program's own of 20. The kernel enforces both; no Go release reads the upper one (golang/go#81180). Policy fit does.\n\n| program | runs with | `go` says | `fit` says |\n|---|---|---|---|\n")
	for _, c := range ancestors() {
		for _, r := range results {
			if r.cell == c {
				fmt.Fprintf(b, "| %s | %d | %d | %d |\n", c.value(fProgram), r.procs, r.goProcs, r.fitProcs)
			}
		}
	}
	b.WriteString("\n")
}

func TestDocument(t *testing.T) {
	c := ancestors()[5]
	masked := c
	masked[fEnv] = cellOf(map[int]string{fEnv: "999"})[fEnv]
	text := string(document([]result{
		{cell: c, procs: 20, numCPU: 64, goProcs: 20, fitProcs: 2},
		{cell: masked, procs: 999, numCPU: 64, goProcs: 3, fitProcs: 2},
	}, time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)))
	for _, want := range []string{
		"**2026-02-03: 1 of 2 cells agree.** In 1 of them", "| CPUs | 64 | 0/0 | 0/0 | 0/0 | 0/0 | 0/0 | 1/2 | 0/0 |",
		"| GOMAXPROCS | unset | 0/0 | 0/0 | 0/0 | 0/0 | 0/0 | 1/1 | 0/0 |", "| go1.26.8 go 1.25 | 20 | 20 | 2 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}
