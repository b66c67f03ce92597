package page_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/bench"
	"github.com/procfit/procfit/internal/verdict/verdicttest"
	"github.com/procfit/procfit/test/must"
)

// extremes are numbers that a journal may hold and no machine measures.
var extremes = []float64{0, 1e-320, math.SmallestNonzeroFloat64, 1e-300, 1e-12, 1, 1e12, 1e300, math.MaxFloat64, -1, -1e300}

// Whatever numbers the trials hold, every form of the report comes to its end, and
// result.json is JSON.
func FuzzRender(f *testing.F) {
	f.Add(uint64(1), []byte{0})
	f.Add(uint64(2), []byte{1, 0, 0, 0, 0, 0, 0})
	f.Add(uint64(3), []byte{0, 1, 0, 0})
	f.Add(uint64(4), []byte{8, 2, 3, 9, 1, 6, 7})
	f.Add(uint64(5), []byte{4, 1, 8})
	f.Fuzz(func(t *testing.T, seed uint64, ops []byte) {
		i := 0
		bend := func(x *float64) {
			if len(ops) == 0 || x == nil {
				return
			}
			if k := int(ops[i%len(ops)]); k > 0 && k <= len(extremes) {
				*x = extremes[k-1]
			}
			i++
		}
		c := verdicttest.Config{Seed: seed, Blocks: 1 + int(seed%7), CPUs: 2, SmallFor: seed%3 == 0, Gate: seed%2 == 0,
			Settings: append(verdicttest.CPUServer()[:4], verdicttest.Against(verdicttest.Set(1, 1, 1))...)}
		c.Trial = func(tr *journal.Trial) {
			bend(tr.ThroughputPerSecond)
			bend(tr.LatencySeconds.P99)
			bend(tr.LatencySeconds.P50)
			bend(&tr.CPUSeconds.User)
			bend(&tr.MeasuredSeconds)
			bend(tr.HostUse.OtherCPUSeconds)
			tr.Metrics = map[string]journal.Metric{"time": {Value: 1, Better: "lower"}}
			m := tr.Metrics["time"]
			bend(&m.Value)
			tr.Metrics["time"] = m
		}
		h, trials := verdicttest.Generate(c)
		r := verdict.Analyze(h, trials)
		result, err := page.JSON(r)
		if err != nil || !json.Valid(result) {
			t.Errorf("result.json is no JSON: %v", err)
		}
		var benchmarks bytes.Buffer
		if err := bench.Write(&benchmarks, r); err != nil {
			t.Error(err)
		}
		for name, content := range map[string][]byte{"result.json": result, "report.html": asPage(t, r), "RESULTS.md": markdown.Render(page.Report(r)), "benchmarks": benchmarks.Bytes()} {
			if len(content) > 2<<20 {
				t.Errorf("%s has %d bytes", name, len(content))
			}
		}
		for _, width := range []int{20, 80} {
			var out bytes.Buffer
			must.OK(t, text.Render(&out, page.Brief(r), text.Options{Width: width}))
		}
	})
}
