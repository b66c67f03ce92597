package explain

import (
	"fmt"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
)

const mostNamed = 5

func place(n *observe.Neighbours) string {
	return phrase.If(n.Dir == "", "on its "+number.CPUs(float64(n.CPUs)), "in the same limit")
}

func writeNeighbours(b *terminal.Writer, n *observe.Neighbours) {
	b.WriteString("\n")
	head := fmt.Sprintf("its reserve: %s, which the others %s used", number.CPUs(n.Reserve()), place(n))
	if n.Reserve() == 0 {
		head = fmt.Sprintf("its reserve: 0 CPUs: the others %s used less than 0.01 CPUs", place(n))
	}
	b.Folded(b.Style(terminal.Bold, head), "  ")
	for _, line := range neighbourLines(n) {
		b.Folded("  "+phrase.Clean(line), "    ")
	}
}

func neighbourLines(n *observe.Neighbours) []string {
	where, how := n.Dir, "as the kernel counts"
	if n.Dir == "" {
		where = "no limit is below its " + number.CPUs(float64(n.CPUs)) + ", on which all programs together"
	} else {
		where += ": its processes"
	}
	if !n.Counted {
		how = "by the sum of its processes: this kernel has no count of the cgroup, and a process that ended in between is missing"
	}
	lines := []string{fmt.Sprintf("%s used %s over %s (%s); process %d itself used %s", where, cpusOf(n.All), number.Minutes(n.Over), how, n.PID, cpusOf(n.Own))}
	if n.Reserve() > 0 {
		lines = append(lines, usedBy(n))
	}
	if n.Throttled != nil && *n.Throttled > 0 {
		lines = append(lines, fmt.Sprintf("the limit throttled them in %s of its periods meanwhile, so they may have wanted more", number.Percent(*n.Throttled)))
	}
	return append(lines, "they used this now, and may need more at their peak: measure it then, or give --reserve a number")
}

func usedBy(n *observe.Neighbours) string {
	if len(n.Others) == 0 {
		return "procfit sees no process that used this: it ended meanwhile, or is in another PID namespace; to see that, run procfit outside of the container"
	}
	named := 0.0
	var others []string
	for _, o := range n.Others[:min(len(n.Others), mostNamed)] {
		others = append(others, fmt.Sprintf("%s (process %d) %s", o.Name, o.PID, number.Hundredths(o.CPUs)))
		named += o.CPUs
	}
	switch rest := n.Used() - named; {
	case n.Part:
		return "CPUs that others used, on these CPUs and on other ones: " + phrase.And(others)
	case rest >= 0.01:
		others = append(others, "the rest "+number.Hundredths(rest))
	}
	return "CPUs used by others: " + phrase.And(others)
}

func cpusOf(x float64) string {
	if s := number.Hundredths(x); s != "1.00" {
		return s + " CPUs"
	}
	return "1 CPU"
}

type reserveJSON struct {
	CPUs           float64         `json:"cpus"`            // what the others used, in hundredths rounded up; 0 for less than 0.05 s of CPU time
	Group          string          `json:"group,omitempty"` // the cgroup with the limit; absent: no limit is below the CPUs
	Seconds        float64         `json:"seconds"`         // that it was measured over
	AllCPUs        float64         `json:"all_cpus"`        // what all processes of it used, on average, without procfit
	OwnCPUs        float64         `json:"own_cpus"`        // what the process used
	Counted        bool            `json:"counted"`         // all_cpus is the kernel's count; else the sum of the processes that were seen
	ThrottledRatio *float64        `json:"throttled_ratio"` // of the limit's periods meanwhile; null: not known
	Others         []neighbourJSON `json:"others"`          // the most first, with what each used on all CPUs
}

type neighbourJSON struct {
	PID  int     `json:"pid"`
	Name string  `json:"name"`
	CPUs float64 `json:"cpus"`
}

func (e Explanation) reserve() *reserveJSON {
	n := e.Neighbours
	if n == nil {
		return nil
	}
	out := &reserveJSON{CPUs: n.Reserve(), Group: n.Dir, Seconds: n.Over.Seconds(), AllCPUs: n.All, OwnCPUs: n.Own, Counted: n.Counted, ThrottledRatio: n.Throttled, Others: []neighbourJSON{}}
	for _, o := range n.Others {
		out.Others = append(out.Others, neighbourJSON(o))
	}
	return out
}
