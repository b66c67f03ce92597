package vm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/need"
	"github.com/procfit/procfit/internal/toolchain"
)

// The quotas of the table in docs/SEEDS.md, in its order, as microseconds of a
// period of 100 ms; 0 is none.
var defaultsQuotas = []int{0, 50_000, 100_000, 200_000, 250_000, 400_000}

// defaultsRow is what one release chooses.
type defaultsRow struct {
	version, language string // language is empty for the release's own
	procs             []string
	numCPU            string
}

func (r defaultsRow) String() string { return "go" + r.version + "-" + r.language }

// documentedDefaults reads the table that says what each release chooses.
func documentedDefaults(t *testing.T) []defaultsRow {
	b, err := os.ReadFile("../../docs/SEEDS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(b), "| Go | no quota | 0.5 | 1 | 2 | 2.5 | 4 | NumCPU, always |\n")
	if !found {
		t.Fatal("docs/SEEDS.md has no table of defaults")
	}
	var rows []defaultsRow
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) != len(defaultsQuotas)+2 {
			break
		}
		if strings.Trim(cells[0], "-") == "" {
			continue
		}
		version, language, _ := strings.Cut(cells[0], ", go line ")
		rows = append(rows, defaultsRow{version, language, cells[1 : len(cells)-1], cells[len(cells)-1]})
	}
	return rows
}

// What each release chooses by itself under a quota, of which the documents say
// different things: the table in docs/SEEDS.md, on v2 and v1, with 8 CPUs. Some of
// its rows, or all with PROCFIT_FULL=1.
func TestDefaults(t *testing.T) {
	emulated(t, "amd64")
	rows := documentedDefaults(t)
	if len(rows) < 13 {
		t.Fatalf("%d rows: %v", len(rows), rows)
	}
	if os.Getenv("PROCFIT_FULL") != "1" {
		rows = slices.DeleteFunc(rows, func(r defaultsRow) bool {
			return !slices.Contains([]string{"1.4.3", "1.18.10", "1.24.13", "1.25.14"}, r.version) && r.language == ""
		})
	}
	source, err := lab.Source("defaults")
	if err != nil {
		t.Fatal(err)
	}
	files, names := map[string]string{}, []string{}
	for _, r := range rows {
		chain, err := toolchain.Fetch(t.Context(), r.version)
		if err != nil {
			need.Skip(t, err.Error())
		}
		out := filepath.Join(t.TempDir(), "defaults")
		if err := chain.Build(t.Context(), []byte(source), r.language, out); err != nil {
			t.Fatal(err)
		}
		files["/"+r.String()] = out
		names = append(names, r.String())
	}
	for cgroup, script := range map[string]string{
		"v2": "cd /sys/fs/cgroup; echo +cpu >cgroup.subtree_control; limit() { echo \"$2 100000\" >$1/cpu.max; }\n",
		"v1": "cd /sys/fs/cgroup/cpu; limit() { echo $2 >$1/cpu.cfs_quota_us; }\n",
	} {
		t.Run(cgroup, func(t *testing.T) {
			output := Run(t, Machine{CPUs: 8, Cgroup: cgroup, Files: files, Limit: 4 * time.Minute, Script: script + fmt.Sprintf(`
for q in %s; do
	mkdir q$q
	[ $q = 0 ] || limit q$q $q
	for program in %s; do
		(echo 0 >q$q/cgroup.procs; /$program 2>/dev/null) | sed "s/^/$q $program /"
	done
done
`, strings.Trim(fmt.Sprint(defaultsQuotas), "[]"), strings.Join(names, " "))})
			for _, r := range rows {
				for i, quota := range defaultsQuotas {
					// The program prints: BenchmarkDefaults 1 N gomaxprocs N numcpu
					want := []string{r.procs[i], "gomaxprocs", r.numCPU, "numcpu"}
					prefix := fmt.Sprintf("%d %s BenchmarkDefaults", quota, r)
					at := strings.Index(output, prefix)
					if at < 0 {
						t.Errorf("%s under %d prints nothing", r, quota)
						continue
					}
					line, _, _ := strings.Cut(output[at+len(prefix):], "\n")
					if got := strings.Fields(line); len(got) < 5 || !slices.Equal(got[len(got)-4:], want) {
						t.Errorf("%s under a quota of %d µs: %q, want %v", r, quota, line, want)
					}
				}
			}
		})
	}
}
