package vm

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

const (
	cellsInRun  = 140  // nearly as few as show every pair of values
	cellsInFull = 2400 // with PROCFIT_FULL=1, as in .ci/full
	perMachine  = 100  // probes at once; more run in a second, identical machine
)

// machineLimit bounds one machine; with two CPUs for two machines it takes 10 to 60 s,
// and minutes where those are busy with other tests.
const machineLimit = 10 * time.Minute

// machineMemory is for perMachine probes. One that uses GOMAXPROCS=999 takes 100 MiB.
const machineMemory = 4096

// result is what one cell came to.
type result struct {
	cell
	procs, numCPU     int  // the program's own
	goProcs, fitProcs int  // procfit's two answers
	actual            *int // the GOMAXPROCS that procfit found in its memory
	affinity          int  // the CPUs that procfit counted
	reasons           []string
}

// order is what the guest receives; see testdata/guest.
type order struct {
	ID            int      `json:"id"`
	Program       string   `json:"program"`
	Env           []string `json:"env"`
	Quotas        []int64  `json:"quotas"`
	Period        int64    `json:"period"`
	Affinity      []int    `json:"affinity"`
	Cpuset        string   `json:"cpuset"`
	View          string   `json:"view"`
	CgroupAt      string   `json:"cgroup_at"`
	CpusetAt      string   `json:"cpuset_at"`
	Version       int      `json:"version"`
	CpusetVersion int      `json:"cpuset_version"`
}

// Every cell runs a real program of a released Go in an emulated machine, and
// procfit must name the GOMAXPROCS that the program itself prints.
func TestAgreement(t *testing.T) {
	emulated(t, "amd64")
	n, whole := cellsInRun, need.Whole()
	if whole {
		n = cellsInFull
	}
	if *update && (!whole || need.NewGo() != "") {
		t.Fatal("-update writes all cells: set PROCFIT_FULL=1, and not PROCFIT_GO")
	}
	files := buildPrograms(t)
	boots := map[[2]uint8][]cell{}
	for _, c := range plan(n, 1, whole) {
		boots[c.machine()] = append(boots[c.machine()], c)
	}
	var mu sync.Mutex
	var results []result
	asked := 0 // fewer than n where only some of the machines are run, by -run
	t.Run("machines", func(t *testing.T) {
		for _, cells := range boots {
			for chunk := range slices.Chunk(cells, perMachine) {
				t.Run(chunk[0].value(fCPUs)+"-"+chunk[0].value(fCgroup), func(t *testing.T) {
					t.Parallel()
					got := answers(t, files, chunk)
					mu.Lock()
					defer mu.Unlock()
					asked += len(chunk)
					results = append(results, got...)
				})
			}
		}
	})
	slices.SortFunc(results, func(a, b result) int { return slices.Compare(a.cell[:], b.cell[:]) })
	judge(t, results)
	if len(results) != asked {
		t.Errorf("%d cells have an answer, want %d", len(results), asked)
	}
	if asked < n {
		t.Logf("%d of %d cells were asked", asked, n)
		return
	}
	judgeWhole(t, results)
	if *update && !t.Failed() {
		must.OK(t, os.WriteFile("../../docs/evidence/agreement.md", document(results, time.Now().UTC()), 0o644))
	}
}

// judge holds procfit's answers against what the programs printed.
func judge(t *testing.T, results []result) {
	t.Helper()
	found := 0
	for _, r := range results {
		if r.goProcs != r.procs && r.difference() == "" {
			t.Errorf("it runs with %d, procfit says %d: %v\n\t%s", r.procs, r.goProcs, r.cell, strings.Join(r.reasons, "\n\t"))
		}
		if r.numCPU != r.affinity {
			t.Errorf("it counts %d CPUs, procfit %d: %v", r.numCPU, r.affinity, r.cell)
		}
		if r.actual != nil {
			found++
		}
		if r.actual != nil && *r.actual != r.procs {
			t.Errorf("it runs with %d, procfit finds %d in its memory: %v", r.procs, *r.actual, r.cell)
		}
		if want := r.fit(); r.fitProcs != want {
			t.Errorf("fit is %d, want %d: %v", r.fitProcs, want, r.cell)
		}
	}
	// It is read from stripped programs here, and need not be found in every one.
	if t.Logf("procfit found it in the memory of %d of %d", found, len(results)); found < len(results)/2 {
		t.Error("procfit finds the GOMAXPROCS of too few of them in their memory")
	}
}

// judgeWhole tells what the cells must show all together.
func judgeWhole(t *testing.T, results []result) {
	t.Helper()
	known := map[string]int{}
	for _, why := range differences {
		known[why] = 0
	}
	for _, r := range results {
		if why := r.difference(); r.goProcs != r.procs && why != "" {
			known[why]++
		}
	}
	for why, n := range known {
		t.Logf("%d cells differ as known: %s", n, why)
		if n == 0 {
			t.Errorf("no cell differs any more: take %q out of differences", why)
		}
	}
	for _, c := range ancestors() {
		i := slices.IndexFunc(results, func(r result) bool { return r.cell == c })
		if i < 0 {
			t.Errorf("no answer: %v", c)
			continue
		}
		want := 64
		if c.readsLimits() {
			want = 20
		}
		if r := results[i]; r.procs != want || r.fitProcs != 2 {
			t.Errorf("it runs with %d, want %d; fit is %d, want 2: %v", r.procs, want, r.fitProcs, c)
		}
	}
}

// fit is what policy fit must say, drawn from the cell and from what the program
// counted alone.
func (r result) fit() int {
	cpus, _ := strconv.Atoi(r.value(fCPUs))
	limits, period := quotas(r.value(fLimit), r.value(fNesting), cpus)
	n := r.numCPU
	for _, quota := range limits {
		if quota > 0 {
			n = min(n, int((quota+period-1)/period))
		}
	}
	return n
}

// answers runs cells in a machine, and those that gave none there in another: what a
// throttled program does under emulation has no bound.
func answers(t *testing.T, files map[string]string, cells []cell) []result {
	t.Helper()
	results := runCells(t, files, cells)
	missing := slices.DeleteFunc(slices.Clone(cells), func(c cell) bool {
		return slices.ContainsFunc(results, func(r result) bool { return r.cell == c })
	})
	if len(missing) == 0 {
		return results
	}
	t.Logf("%d of %d gave no answer; they are asked again", len(missing), len(cells))
	return append(results, runCells(t, files, missing)...)
}

// runCells boots one machine and runs all the cells in it at once.
func runCells(t *testing.T, files map[string]string, cells []cell) []result {
	t.Helper()
	orders := make([]order, len(cells))
	for i, c := range cells {
		orders[i] = newOrder(i, c)
	}
	b := must.Get(json.Marshal(orders))(t)
	list := filepath.Join(t.TempDir(), "cells.json")
	must.OK(t, os.WriteFile(list, b, 0o644))
	m := Machine{Limit: machineLimit, Memory: machineMemory, Cgroup: cells[0].value(fCgroup), Files: map[string]string{"/cells.json": list}}
	m.CPUs, _ = strconv.Atoi(cells[0].value(fCPUs))
	for there, here := range files {
		m.Files[there] = here
	}
	if m.Cgroup == "v1" {
		m.Script = "mkdir /sys/fs/cgroup/cpuset && mount -t cgroup -o cpuset none /sys/fs/cgroup/cpuset || exit 1\n"
	}
	m.Script += "/guest"
	return readAnswers(t, Run(t, m), cells)
}

func readAnswers(t *testing.T, output string, cells []cell) []result {
	t.Helper()
	var results []result
	for line := range strings.Lines(output) {
		text, ok := strings.CutPrefix(line, "answer: ")
		if !ok {
			if strings.HasPrefix(line, "times: ") {
				t.Log(strings.TrimSpace(line))
			}
			continue
		}
		var a struct {
			ID            int
			Output, Error string
			Says          struct {
				Facts struct {
					Affinity struct{ CPUs int }
				}
				Actual   *int `json:"actual_procs"`
				Policies map[string]struct {
					Procs   int
					Reasons []string
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &a); err != nil || a.ID < 0 || a.ID >= len(cells) {
			t.Errorf("not an answer (%v): %s", err, line)
			continue
		}
		r := result{cell: cells[a.ID], goProcs: a.Says.Policies["go"].Procs, fitProcs: a.Says.Policies["fit"].Procs,
			actual: a.Says.Actual, affinity: a.Says.Facts.Affinity.CPUs, reasons: a.Says.Policies["go"].Reasons}
		if _, err := fmt.Sscan(a.Output, &r.procs, &r.numCPU); err != nil || a.Error != "" || r.goProcs < 1 {
			t.Logf("no answer: %s: %v", line, r.cell)
			continue
		}
		results = append(results, r)
	}
	return results
}
