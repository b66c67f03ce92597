package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/stat"
)

// goOn is the command that measures what a verdict lacks, and how long it takes. A race
// goes on where it ended; a grid of more blocks is another plan, and begins anew.
func (w words) goOn(s stat.Step) string {
	text := "about " + phrase.Count(s.More, "more trial")
	if len(s.List) > 1 {
		text += fmt.Sprintf(" decide whether %s or %s, by %s", name(&s.List[0]), name(&s.List[1]), w.metric(s.Metric))
	} else {
		text += " would decide"
	}
	r := w.result
	if r == nil || len(r.Tool.Args) == 0 {
		return text
	}
	trials, command := s.More, ""
	if r.Plan.Racing() {
		most := r.TrialsRun + r.PilotsRun + s.More
		command = "procfit " + phrase.Shell(with(r.Tool.Args, flag{"--max-trials", strconv.Itoa(most)}, flag{name: "--max-time"}, flag{"--out", outOf(r.Tool.Args)}))
	} else {
		perBlock := max(1, s.Have/max(1, r.Plan.Blocks))
		blocks := int(math.Ceil(float64(s.Have+s.More) / float64(perBlock)))
		command = "procfit " + phrase.Shell(with(r.Tool.Args, flag{"--repeats", strconv.Itoa(blocks)}, flag{name: "--out"}))
		trials = blocks * (len(r.Plan.Arms) + len(r.Plan.AA))
	}
	text += ": " + command
	if s.TrialSeconds > 0 && float64(trials)*s.TrialSeconds < 1e6 {
		text += ", " + about(time.Duration(float64(trials)*s.TrialSeconds*float64(time.Second)))
	}
	return text
}

// about is a time to be expected: what is foretold to the second is not believed.
func about(d time.Duration) string {
	if d < 90*time.Second {
		return "about " + phrase.Count(max(1, int(math.Ceil(d.Seconds()/10)))*10, "second")
	}
	return "about " + phrase.Count(int(math.Round(d.Minutes())), "minute")
}

// flag is one of a command line; without a value it is left out.
type flag struct{ name, value string }

// with is a command line with some flags set, before the program's own.
func with(args []string, flags ...flag) []string {
	own := slices.Index(args, "--")
	if own < 0 {
		own = len(args)
	}
	var out []string
	for i := 0; i < own; i++ {
		f := slices.IndexFunc(flags, func(f flag) bool { return args[i] == f.name || strings.HasPrefix(args[i], f.name+"=") })
		if f < 0 {
			out = append(out, args[i])
			continue
		}
		if args[i] == flags[f].name {
			i++
		}
	}
	for _, f := range flags {
		if f.value != "" {
			out = append(out, f.name, f.value)
		}
	}
	return append(out, args[own:]...)
}

// outOf is the results directory as the command named it.
func outOf(args []string) string {
	for i, a := range args {
		if a == "--" {
			break
		}
		if v, ok := strings.CutPrefix(a, "--out="); ok {
			return v
		}
		if a == "--out" && i+1 < len(args) {
			return args[i+1]
		}
	}
	return "DIR"
}

// fewestApart is how many CPUs it takes for the load to have its own without being
// asked.
const fewestApart = 4

// apart is the command that keeps the load off the target's CPUs.
func (w words) apart() string {
	r := w.result
	if r == nil || len(r.Tool.Args) == 0 {
		return ""
	}
	n := r.Host.AffinityCPUs
	args := slices.DeleteFunc(with(r.Tool.Args, flag{name: "--out"}), func(a string) bool { return a == "--shared-cpus" })
	switch {
	case n >= fewestApart && len(args) < len(with(r.Tool.Args, flag{name: "--out"})):
		return "procfit " + phrase.Shell(args) // it is done by itself
	case n >= 2:
		return "procfit " + phrase.Shell(with(args, flag{"--server-cpuset", listed(0, n/2)}, flag{"--load-cpuset", listed(n/2, n)}))
	}
	return ""
}

func listed(from, to int) string {
	if to-from == 1 {
		return strconv.Itoa(from)
	}
	return fmt.Sprintf("%d-%d", from, to-1)
}
