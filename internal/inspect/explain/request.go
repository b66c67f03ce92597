package explain

import (
	"fmt"
	"math"

	"github.com/procfit/procfit/internal/host/cgroup"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

// Request is a CPU request that was asked about, and the weight of the program's cgroup,
// with which the kernel enforces requests.
type Request struct {
	Asked   float64        // in CPUs; 0: none
	Weight  *cgroup.Weight // nil: none is known
	Unknown string         // why it could not be read
}

// said reports whether there is something to print: the default weight of the kernel is
// not a request.
func (r Request) said() bool {
	return r.Asked > 0 || r.Unknown != "" || r.Weight != nil && !r.Weight.Default()
}

func (r Request) write(b *terminal.Writer, fits int) {
	if !r.said() {
		return
	}
	b.WriteString("\n")
	b.Folded(b.Style(terminal.Bold, "its CPU request: "+r.answer()), "  ")
	lines := []string{"a request is its share when CPUs are scarce, and not a limit: it can also use what others leave idle"}
	if n := roundedUp(r.Asked); r.Asked > 0 && n < fits {
		lines = append(lines, fmt.Sprintf("with GOMAXPROCS=%d, as the request, it could not use the rest of its CPUs: it should be %d", n, fits))
	}
	if r.Asked > 0 {
		milli := milliOf(r.Asked)
		lines = append(lines, fmt.Sprintf("Kubernetes converts it to cpu.shares %d (cgroup v1), or cpu.weight %d (v2; %d before runc 1.3.2 and crun 1.23)",
			cgroup.Shares.Weight(milli), cgroup.Quadratic.Weight(milli), cgroup.Linear.Weight(milli)))
	}
	for _, l := range append(lines, r.weight()...) {
		b.Folded("  "+phrase.Clean(l), "    ")
	}
}

func (r Request) answer() string {
	const not = ", which does not decide GOMAXPROCS"
	switch {
	case r.Asked > 0:
		return number.CPUs(r.Asked) + not
	case r.Weight == nil:
		return "not known" + not
	}
	return "its cgroup has a weight" + not
}

// weight says which request the weight corresponds to, for each conversion.
func (r Request) weight() []string {
	switch {
	case r.Unknown != "":
		return []string{"the weight of its cgroup is not known: " + r.Unknown}
	case r.Weight == nil:
		return nil
	}
	head := fmt.Sprintf("%s: %d ", r.Weight.File, r.Weight.Value)
	if r.Weight.Value == 0 {
		return []string{head + "is the weight of an idle cgroup: it runs only when nothing else wants to"}
	}
	if r.Weight.Default() {
		head += "is the default of the kernel, and "
	}
	var out []string
	for i, c := range cgroup.Conversions(r.Weight.Version) {
		if i > 0 {
			head = "or "
		}
		out = append(out, head+"corresponds to "+standsFor(c, r.Weight.Value)+byWhom(c))
	}
	return out
}

func standsFor(c cgroup.Conversion, weight int64) string {
	low, high, ok := c.Requests(weight)
	switch {
	case !ok:
		return "no request"
	case low == 0:
		return fmt.Sprintf("no request, or one of up to %s", number.CPUs(float64(high)/1000))
	case low == high:
		return "a request of " + number.CPUs(float64(low)/1000)
	case high == cgroup.MostMilli:
		return fmt.Sprintf("a request of %s or more", number.CPUs(float64(low)/1000))
	}
	return fmt.Sprintf("a request of %s to %s", number.BareCPUs(float64(low)/1000), number.CPUs(float64(high)/1000))
}

func byWhom(c cgroup.Conversion) string {
	switch c {
	case cgroup.Linear:
		return ", with runc before 1.3.2 and crun before 1.23"
	case cgroup.Quadratic:
		return ", with these and later releases"
	}
	return ""
}

// roundedUp ignores the rounding error of a division.
func roundedUp(x float64) int { return int(math.Ceil(x - 1e-9)) }

// milliOf is a request in thousandths of a CPU, rounded up as Kubernetes does.
func milliOf(cpus float64) int64 { return int64(roundedUp(cpus * 1000)) }

type requestJSON struct {
	Asked     *float64        `json:"asked_cpus"` // null: not asked
	Weight    *int64          `json:"weight"`     // null: not known
	File      string          `json:"file,omitempty"`
	Version   int             `json:"version,omitempty"` // of the cgroups
	Default   bool            `json:"default,omitempty"` // the kernel's own for every group
	Unknown   string          `json:"unknown,omitempty"`
	StandsFor []standsForJSON `json:"stands_for"`
}

// standsForJSON is the requests that have a weight, by one way to it.
type standsForJSON struct {
	Conversion cgroup.Conversion `json:"conversion"`
	Low        float64           `json:"low_cpus"`
	High       float64           `json:"high_cpus"`
}

func (r Request) document() *requestJSON {
	if r == (Request{}) {
		return nil
	}
	out := &requestJSON{Unknown: r.Unknown, StandsFor: []standsForJSON{}}
	if r.Asked > 0 {
		out.Asked = &r.Asked
	}
	if w := r.Weight; w != nil {
		out.Weight, out.File, out.Version, out.Default = &w.Value, w.File, w.Version, w.Default()
		for _, c := range cgroup.Conversions(w.Version) {
			if low, high, ok := c.Requests(w.Value); ok {
				out.StandsFor = append(out.StandsFor, standsForJSON{c, float64(low) / 1000, float64(high) / 1000})
			}
		}
	}
	return out
}
