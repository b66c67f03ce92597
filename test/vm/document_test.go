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

procfit reports which GOMAXPROCS value a Go program runs with. Here that is compared with the programs themselves. Each cell below is one real program, built by a released Go version. It was started in an emulated Linux machine and printed its own runtime.GOMAXPROCS(0). In the same machine, from outside the program, procfit ran ` + "`procfit explain --json PID`" + `, and the two numbers were compared.

Two other tests compare procfit with the runtimes. test/goruntime compares the search for a program's own limit with the runtimes' own code, in thousands of random arrangements. TestDeadlyLimits compares the limits that end a runtime with programs that they end.

The cells cover every pair of values of any two factors; the rest is drawn at random, with a fixed seed. In a cell where the GOMAXPROCS variable alone decides, only the pairs with GOMAXPROCS are covered.

| factor | what it is |
|---|---|
| program | the toolchain, and the go line of go.mod |
| limit | CPUs that the program's own cgroup may use; with one CPU or less anywhere the period is 1 s, otherwise 100 ms |
| nesting | a cgroup alone, or in a parent cgroup whose limit is half or double; the parent of a leaf of 20 CPUs has 1.5. v1 refuses a leaf with more than its parent |
| cpuset | an affinity mask, or a cpuset cgroup |
| view | host: the machine's own; unshare: a separate cgroup namespace, with the machine's mounts; container: the same with the hierarchy mounted again; bind: no namespace, the program's cgroup bind-mounted over the hierarchy; agent: a container in which the machine's hierarchy is mounted a second time; nsfs: the hierarchy mounted after a bind-mounted namespace; covered: a tmpfs over the hierarchy, the program's cgroup bind-mounted elsewhere; above: the parent of the program's cgroup bind-mounted over the hierarchy, and then a cgroup namespace |

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
	b.WriteString("## Repeat it\n\n    PROCFIT_REQUIRE=1 go test ./test/vm -run Agreement                        # as in .ci/run: 140 cells on five of the twelve machines\n    PROCFIT_FULL=1 go test ./test/vm -run Agreement -timeout 60m -update      # every machine, as in .ci/full; writes this page\n\nThe test needs Debian's qemu-system-x86 and busybox-static, and the kernel that test/vm/kernel.sh fetches. It does not need root. Go fetches the toolchains itself.\n")
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
	b.WriteString("## A parent cgroup's limit\n\nThe machine has 64 CPUs and cgroup v2. The program's own limit is 20 CPUs, and its parent cgroup's limit is 1.5 CPUs. The kernel enforces both. No Go release reads the parent's limit (golang/go#81180); the policy fit does.\n\n| program | runs with | `go` says | `fit` says |\n|---|---|---|---|\n")
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
