package vm

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/program/toolchain"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// keptDefaults is the table that the lab answers with.
const keptDefaults = "../../internal/lab/emulated.json"

// programOf names a row's program.
func programOf(r lab.EmulatedRow) string { return "go" + r.Go + "-" + r.Language }

// What each release chooses by itself under a quota, of which the documents say
// different things: the table that the lab keeps, on v2 and v1. Some of its rows, or all
// with PROCFIT_FULL=1, which -update writes again, with the day.
func TestDefaults(t *testing.T) {
	emulated(t, "amd64")
	table := must.Get(lab.ReadEmulated())(t)
	if len(table.Rows) < 13 || len(table.Quotas) < 6 {
		t.Fatalf("%+v", table)
	}
	full := need.Whole()
	if *update && !full {
		t.Fatal("-update writes all rows: set PROCFIT_FULL=1")
	}
	rows := slices.Clone(table.Rows)
	if !full {
		rows = slices.DeleteFunc(rows, func(r lab.EmulatedRow) bool {
			return !slices.Contains([]string{"1.4.3", "1.18.10", "1.24.13", "1.25.14"}, r.Go) && r.Language == ""
		})
	}
	files, names := builtDefaults(t, rows)
	var quotas []string // as microseconds of a period of 100 ms; 0 is none
	for _, q := range table.Quotas {
		quotas = append(quotas, strconv.Itoa(int(q*100_000)))
	}
	for _, way := range [][2]string{
		{"v2", "cd /sys/fs/cgroup; echo +cpu >cgroup.subtree_control; limit() { echo \"$2 100000\" >$1/cpu.max; }\n"},
		{"v1", "cd /sys/fs/cgroup/cpu; limit() { echo $2 >$1/cpu.cfs_quota_us; }\n"},
	} {
		cgroup, script := way[0], way[1]
		t.Run(cgroup, func(t *testing.T) {
			if !slices.Contains(table.Ways, cgroup) {
				t.Errorf("the table is of cgroups %v", table.Ways)
			}
			output := Run(t, Machine{CPUs: table.CPUs, Cgroup: cgroup, Files: files, Script: script + fmt.Sprintf(`
for q in %s; do
	mkdir q$q
	[ $q = 0 ] || limit q$q $q
	for program in %s; do
		(echo 0 >q$q/cgroup.procs; /$program 2>/dev/null) | sed "s/^/$q $program /"
	done
done
`, strings.Join(quotas, " "), strings.Join(names, " "))})
			for i := range rows {
				got := choices(t, output, quotas, rows[i])
				if *update && cgroup == "v2" { // v1 is held against it
					rows[i] = got
				} else if !slices.Equal(got.Procs, rows[i].Procs) || got.NumCPU != rows[i].NumCPU {
					t.Errorf("got %+v, the table has %+v", got, rows[i])
				}
			}
		})
	}
	if *update && !t.Failed() {
		table.Rows, table.Made = rows, time.Now().UTC().Format(time.DateOnly)
		writeDefaults(t, table)
	}
}

// builtDefaults compiles the program of each row.
func builtDefaults(t *testing.T, rows []lab.EmulatedRow) (files map[string]string, names []string) {
	source := must.Get(lab.Source("defaults"))(t)
	files = map[string]string{}
	for _, r := range rows {
		chain, err := toolchain.Fetch(t.Context(), r.Go)
		if err != nil {
			need.Skip(t, err.Error())
		}
		out := filepath.Join(t.TempDir(), "defaults")
		must.OK(t, chain.Build(t.Context(), []byte(source), r.Language, out))
		files["/"+programOf(r)] = out
		names = append(names, programOf(r))
	}
	return files, names
}

// choices is what a row's program printed under each quota:
// BenchmarkDefaults 1 N gomaxprocs N numcpu.
func choices(t *testing.T, output string, quotas []string, r lab.EmulatedRow) lab.EmulatedRow {
	got := lab.EmulatedRow{Go: r.Go, Language: r.Language}
	for i, quota := range quotas {
		prefix := fmt.Sprintf("%s %s BenchmarkDefaults", quota, programOf(r))
		at := strings.Index(output, prefix)
		if at < 0 {
			t.Errorf("%s under %s µs prints nothing", programOf(r), quota)
			continue
		}
		line, _, _ := strings.Cut(output[at+len(prefix):], "\n")
		procs, cpus := 0, 0
		if _, err := fmt.Sscanf(strings.TrimLeft(line, "-0123456789"), " 1 %d gomaxprocs %d numcpu", &procs, &cpus); err != nil {
			t.Errorf("%s under %s µs: %q: %v", programOf(r), quota, line, err)
			continue
		}
		if i > 0 && cpus != got.NumCPU {
			t.Errorf("%s counts %d CPUs under %s µs, and %d before", programOf(r), cpus, quota, got.NumCPU)
		}
		got.Procs, got.NumCPU = append(got.Procs, procs), cpus
	}
	return got
}

// writeDefaults writes the table, a row a line.
func writeDefaults(t *testing.T, table lab.Emulated) {
	text := func(v any) string {
		b := must.Get(json.Marshal(v))(t)
		return strings.NewReplacer(`":`, `": `, `,`, `, `).Replace(string(b))
	}
	var rows []string
	for _, r := range table.Rows {
		rows = append(rows, "    "+text(r))
	}
	all := fmt.Sprintf("{\n  \"made\": %s,\n  \"cpus\": %d,\n  \"cgroups\": %s,\n  \"quotas\": %s,\n  \"rows\": [\n%s\n  ]\n}\n",
		text(table.Made), table.CPUs, text(table.Ways), text(table.Quotas), strings.Join(rows, ",\n"))
	must.OK(t, os.WriteFile(keptDefaults, []byte(all), 0o644))
}
