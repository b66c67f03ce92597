package facts

import (
	"math"
	"strconv"
	"strings"

	"github.com/procfit/procfit/maxprocs/internal/cgfs"
	"github.com/procfit/procfit/maxprocs/internal/fit"
)

// Automaxprocs is the policy of a program that calls Set of go.uber.org/automaxprocs, as a
// blank import of that module does: of v1.6.0, except that an older Release may not read
// cgroup v2, see ReadsLimit. If automaxprocs changes nothing, the value is that of Go with the same Version
// and Language.
//
// It is exact for facts that were read. In facts made by hand, the first limit is the
// one that automaxprocs finds.
type Automaxprocs struct {
	Version  string   // as in Go
	Language string   // as in Go
	Min      int      // its option Min; below 1 it is 1
	Rounding Rounding // its option RoundQuotaFunc; "": Floor
	Release  string   // its own version, such as "v1.4.0"; "": v1.6.0
}

// ReadsLimit reports whether the Release can read the limit of the program's cgroup: those
// before v1.5.1 cannot on cgroup v2 (v1.5.0 only if that is the last of all mounts), and
// v1.5.1 only that of the cgroup which is mounted, as in most containers.
func (p Automaxprocs) ReadsLimit(f Facts) bool { return p.misses(f) == "" }

// misses is why the Release cannot read the limit; "": it can.
func (p Automaxprocs) misses(f Facts) string {
	if f.Cgroup.Version != 2 {
		return ""
	}
	for _, old := range []string{"v1.0.", "v1.1.", "v1.2.", "v1.3.", "v1.4.", "v1.5.0"} {
		if strings.HasPrefix(p.Release, old) {
			return p.Release + " does not read cgroup v2; v1.5.1 and later do"
		}
	}
	seen, read := f.seen()
	if p.Release != "v1.5.1" || !read {
		return ""
	}
	if found := findAutomaxprocs(seen.Mountinfo, seen.ProcCgroup); found.version == 2 && found.dir != "/sys/fs/cgroup" {
		return p.Release + " reads only the limit of the cgroup that is mounted, not of one below it; v1.5.2 and later do"
	}
	return ""
}

// Name implements Policy.
func (Automaxprocs) Name() PolicyName { return PolicyAutomaxprocs }

func (p Automaxprocs) decide(f Facts) Decision {
	d := newDecision(p, f)
	if d.leave(p, f); d.Outcome == Dies { // before any code of the program runs
		return d
	}
	d = newDecision(p, f)
	switch f.Env.State {
	case Known:
		d.because("GOMAXPROCS=%q is in the environment, so automaxprocs leaves the choice to the runtime", f.Env.Raw)
		return d.leave(p, f)
	case Unreadable:
		d.because("its environment is unreadable (%s); assumed to have no GOMAXPROCS", f.Env.Error)
		d.Unknown = append(d.Unknown, "GOMAXPROCS in its environment is unreadable: "+f.Env.Error)
	}
	l, why := automaxprocsLimit(f)
	if missed := p.misses(f); missed != "" {
		why = missed
	}
	if why != "" {
		d.because("automaxprocs changes nothing: %s", why)
		return d.leave(p, f)
	}
	cpus, why := automaxprocsQuota(l)
	if why != "" {
		d.because("automaxprocs changes nothing: %s (%s)", why, l.describe())
		return d.leave(p, f)
	}
	// int(math.Floor(v)), where a machine's integers end included.
	round, word := math.Floor, "down"
	if p.Rounding == Ceil {
		round, word = math.Ceil, "up"
	}
	n := fit.Int(round(cpus))
	d.because("%s limits its own cgroup to %s; rounded %s to %d", l.describe(), countCPUs(cpus), word, n)
	if least := max(1, p.Min); n < least {
		d.because("%d is below the minimum of %d", n, least)
		n = least
	}
	d.because("after this, the runtime no longer follows changes of the limit (Go 1.25 and later do)")
	if tight, ok := f.Tightest(); ok && tight.CPUs < cpus {
		d.because("automaxprocs does not read the tighter limit of %s of a parent cgroup (%s)", countCPUs(tight.CPUs), tight.describe())
	}
	if all := f.AffinityCPUs(); all > 0 && n > all {
		d.because("automaxprocs ignores the affinity, which is %s", plural(all, "CPU", "CPUs"))
	}
	d.add(Candidate{What: KindLimit, CPUs: cpus, Procs: n, File: l.File, Raw: l.Raw})
	return d.win(KindLimit, n)
}

// leave ends the decision with the choice of the runtime.
func (d *Decision) leave(p Automaxprocs, f Facts) Decision {
	theirs := Go{Version: p.Version, Language: p.Language}.decide(f)
	d.Outcome, d.Procs, d.Candidates = theirs.Outcome, theirs.Procs, theirs.Candidates
	d.Reasons = append(d.Reasons, theirs.Reasons...)
	return *d
}

// automaxprocsLimit is the limit file that automaxprocs opens, or why it opens none.
func automaxprocsLimit(f Facts) (l Limit, why string) {
	seen, ok := f.seen()
	if !ok {
		if own, ok := f.Own(); ok {
			return own, ""
		}
		return Limit{}, "it finds no CPU cgroup"
	}
	found := findAutomaxprocs(seen.Mountinfo, seen.ProcCgroup)
	if found.why != "" {
		return Limit{}, found.why
	}
	if l, ok := seen.at(found.version, found.dir); ok && l.State != Absent {
		if own, known := f.Own(); known && found.dir == seen.Dir {
			return own, "" // by the reader's name
		}
		return l, ""
	}
	why = "there is no " + limitFile(found.version, found.dir)
	if found.version == 2 {
		why += ", so it assumes that there is no limit"
	}
	return Limit{}, why
}

// automaxprocsQuota parses the raw text as automaxprocs does: only the first line,
// signs allowed, no space around a v1 number.
func automaxprocsQuota(l Limit) (cpus float64, why string) {
	switch l.State {
	case Absent:
		return 0, "there is no such file"
	case Unreadable:
		return 0, "the limit cannot be read: " + l.Error
	}
	const malformed = "the limit is malformed, which is an error to automaxprocs"
	if l.PeriodFile != "" {
		quota, err := strconv.Atoi(firstLine(l.Raw))
		if err != nil {
			return 0, malformed
		}
		if quota <= 0 {
			return 0, "there is no limit"
		}
		period, err := strconv.Atoi(firstLine(l.PeriodRaw))
		if err != nil {
			return 0, malformed
		}
		if period <= 0 {
			return 0, "there is no period, so it assumes that there is no limit"
		}
		return float64(quota) / float64(period), ""
	}
	fields := strings.Fields(firstLine(l.Raw))
	if len(fields) == 0 || len(fields) > 2 {
		return 0, malformed
	}
	if fields[0] == "max" {
		return 0, "there is no limit"
	}
	quota, err := strconv.Atoi(fields[0])
	period := cgfs.DefaultPeriod
	if err == nil && len(fields) == 2 {
		period, err = strconv.Atoi(fields[1])
	}
	if err != nil || period == 0 {
		return 0, malformed
	}
	return float64(quota) / float64(period), ""
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSuffix(line, "\r")
}
