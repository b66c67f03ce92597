package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict"
)

// goOn is the command that measures what a verdict lacks, and how long it takes. A race
// goes on where it ended; a grid of more blocks is another plan, with a folder of its own.
func (w words) goOn(s verdict.Step) document.Item {
	text := "about " + phrase.Count(s.More, "more trial")
	ends := " should decide"
	if len(s.List) > 1 {
		ends = fmt.Sprintf(" should separate %s from %s by %s", name(&s.List[0]), name(&s.List[1]), w.metric(s.Metric))
	}
	r := w.result
	if !swept(r) {
		return document.Item{Text: text + ends}
	}
	trials, command := s.More, ""
	if r.Plan.Racing() {
		most := r.TrialsRun + r.PilotsRun + s.More
		command = resumed(r, flag{"--max-trials", strconv.Itoa(most)}, flag{name: "--max-time"})
	} else {
		perBlock := max(1, s.Have/max(1, r.Plan.Blocks))
		blocks := int(math.Ceil(float64(s.Have+s.More) / float64(perBlock)))
		command = repeated(r, blocks)
		trials = blocks * (len(r.Plan.Settings) + len(r.Plan.AA))
	}
	if s.TrialSeconds > 0 && float64(trials)*s.TrialSeconds < 1e6 {
		text += ", " + about(time.Duration(float64(trials)*s.TrialSeconds*float64(time.Second))) + ","
	}
	return document.Item{Text: text + ends, Command: command}
}

// measuring are the commands whose run may be repeated.
var measuring = []string{"sweep", "compare", "size", "observe", "kube sweep", "kube canary"}

// swept tells whether the trials are those of one of these commands.
func swept(r *verdict.Result) bool {
	if r == nil || len(r.Tool.Args) == 0 {
		return false
	}
	args := r.Tool.Args
	return slices.Contains(measuring, args[0]) || slices.Contains(measuring, strings.Join(args[:min(2, len(args))], " "))
}

// resumed is the command that continues in the folder of the result.
func resumed(r *verdict.Result, flags ...flag) string {
	return "procfit " + phrase.Shell(with(r.Tool.Args, append(flags, flag{"--out", folderOf(r)})...))
}

// repeated is the command of a grid of N blocks, in a new folder.
func repeated(r *verdict.Result, blocks int) string {
	return "procfit " + phrase.Shell(with(r.Tool.Args, flag{"--repeats", strconv.Itoa(blocks)}, flag{name: "--max-trials"}, flag{name: "--max-time"}, flag{name: "--until"}, flag{name: "--out"}))
}

// completed is how a sweep that ended early is completed.
func completed(r *verdict.Result) string {
	if !swept(r) {
		return "run the same command with this directory as --out"
	}
	return "run " + resumed(r)
}

// about is a time to be expected: what is foretold to the second is not believed.
func about(d time.Duration) string {
	if d < 90*time.Second {
		return "about " + phrase.Count(max(1, int(math.Ceil(d.Seconds()/10)))*10, "second")
	}
	return "about " + phrase.Count(int(math.Round(d.Minutes())), "minute")
}

// flag is one of a command line; without a value it is removed.
type flag struct{ name, value string }

// with is a command line with some flags set, before the program's own. It is as procfit
// writes it: a word that begins with a dash is a flag, and the next word is its value
// unless that is a flag too.
func with(args []string, flags ...flag) []string {
	own := ownWords(args)
	var out []string
	for i := 0; i < own; i++ {
		name, _, joined := strings.Cut(args[i], "=")
		switch changed := slices.ContainsFunc(flags, func(f flag) bool { return f.name == name }); {
		case !changed:
			out = append(out, args[i])
		case !joined && i+1 < own && !strings.HasPrefix(args[i+1], "-"):
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

// given is what a command line has for a flag.
func given(args []string, name string) (value string, ok bool) {
	args = args[:ownWords(args)]
	for i, a := range args {
		if v, joined := strings.CutPrefix(a, name+"="); joined {
			return v, true
		}
		if a == name {
			return strings.Join(args[i+1:min(i+2, len(args))], ""), true
		}
	}
	return "", false
}

// patient is --timeout with one of its parts changed.
func patient(args []string, part, value string) flag {
	var parts []string
	own := args[:ownWords(args)]
	for i, a := range own {
		text, ok := strings.CutPrefix(a, "--timeout=")
		if a == "--timeout" && i+1 < len(own) {
			text, ok = own[i+1], true
		}
		for one := range strings.SplitSeq(text, ",") {
			if ok && !strings.HasPrefix(one, part+"=") {
				parts = append(parts, one)
			}
		}
	}
	return flag{"--timeout", strings.Join(append(parts, part+"="+value), ",")}
}

// ownWords is how many words are procfit's own.
func ownWords(args []string) int {
	if i := slices.Index(args, "--"); i >= 0 {
		return i
	}
	return len(args)
}

// folderOf is where the journal is: as it was read, or as the command named it.
func folderOf(r *verdict.Result) string {
	out, _ := given(r.Tool.Args, "--out")
	return cmp.Or(r.Folder, out, "DIR")
}

// fewestApart is how many CPUs it takes for the load to have its own without being
// asked.
const fewestApart = 4

// apart is the command that keeps the load off the target's CPUs.
func (w words) apart() string {
	r := w.result
	if !swept(r) {
		return ""
	}
	n := r.Host.AffinityCPUs
	args := with(r.Tool.Args, flag{name: "--out"}, flag{name: "--load-cpuset"})
	on, _ := given(r.Tool.Args, "--load-cpuset")
	switch {
	case n >= fewestApart && on == "shared":
		return "procfit " + phrase.Shell(args) // it is done by itself
	case n >= 2:
		return "procfit " + phrase.Shell(with(args, flag{"--target-cpuset", listed(0, n/2)}, flag{"--load-cpuset", listed(n/2, n)}))
	}
	return ""
}

func listed(from, to int) string {
	if to-from == 1 {
		return strconv.Itoa(from)
	}
	return fmt.Sprintf("%d-%d", from, to-1)
}
