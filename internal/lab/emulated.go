package lab

import (
	_ "embed" // the table
	"encoding/json"
	"fmt"
	"go/version"
	"time"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Emulated is what each Go release chose by itself on a machine that test/vm emulates,
// with more CPUs than most have. Such numbers do not depend on how fast a machine is,
// so that they are valid where too few CPUs show nothing; times never would be.
type Emulated struct {
	Made   string        `json:"made"` // the day: 2026-11-22
	CPUs   int           `json:"cpus"`
	Ways   []string      `json:"cgroups"` // each was tried, with the same numbers
	Quotas []float64     `json:"quotas"`  // in CPUs, 0 being none
	Rows   []EmulatedRow `json:"rows"`
}

// EmulatedRow is what a program chose.
type EmulatedRow struct {
	Go       string `json:"go"`                 // the release: 1.26.11
	Language string `json:"language,omitempty"` // the go line, where it is not the release's own
	Procs    []int  `json:"procs"`              // GOMAXPROCS by quota
	NumCPU   int    `json:"num_cpu"`            // under every quota
}

//go:embed emulated.json
var emulatedTable []byte

// ReadEmulated is the table that is kept; test/vm makes it.
func ReadEmulated() (Emulated, error) {
	var e Emulated
	if err := json.Unmarshal(emulatedTable, &e); err != nil {
		return e, fmt.Errorf("emulated.json: %w; go test ./test/vm -run Defaults -update makes it", err)
	}
	return e, nil
}

// from says whose figures these are.
func (e Emulated) from() string {
	made := e.Made
	if day, err := time.Parse(time.DateOnly, e.Made); err == nil {
		made = day.Format("2 January 2006")
	}
	return fmt.Sprintf("on an emulated machine of %d CPUs, %s", e.CPUs, made)
}

// results are the table as the stages of the experiment that it is of: a block for
// each way of cgroups.
func (e Emulated) results() Results {
	r := Results{}
	for _, row := range e.Rows {
		id := "versions"
		if row.Language != "" {
			id = "language"
		}
		m := r[id]
		if m.Result == nil {
			m.Result = &verdict.Result{Host: journal.Host{CPUs: e.CPUs, EffectiveCPUs: float64(e.CPUs)}}
		}
		if version.Compare("go"+row.Go, m.Result.Tool.GoVersion) > 0 {
			m.Result.Tool.GoVersion = "go" + row.Go // today's is the newest
		}
		for i, procs := range row.Procs[:min(len(row.Procs), len(e.Quotas))] {
			setting := journal.Setting{GoVersion: row.Go}
			if e.Quotas[i] > 0 {
				setting.QuotaCPUs = &e.Quotas[i]
			}
			for block := range e.Ways {
				m.Trials = append(m.Trials, journal.Trial{
					Setting: setting, Role: journal.RoleMeasure, Block: block, Valid: true,
					Metrics: map[string]journal.Metric{"gomaxprocs": {Value: float64(procs)}, "numcpu": {Value: float64(row.NumCPU)}},
				})
			}
		}
		r[id] = m
	}
	return r
}

// emulated measures the hypothesis in the table, and says whose figures they are. They
// are the same whenever they are asked for, so that the interval is a point.
func (h Hypothesis) emulated() (Estimate, string) {
	table, err := ReadEmulated()
	if err != nil {
		return Estimate{Why: err.Error()}, ""
	}
	got := h.Measure.of(table.results()).finite()
	if got.Value != nil {
		got.Low, got.High, got.Why, got.sequences = got.Value, got.Value, "", nil
	}
	return got, table.from()
}
