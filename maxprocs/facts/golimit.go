package facts

import (
	"math"
	"path"
	"strconv"
	"strings"
)

// readLeaf reads the limit of the process's own cgroup as the runtime does.
func (d *Decision) readLeaf(f Facts, minor int) (Limit, bool) {
	l, why := goLimit(f, minor)
	if v := f.Cgroup.View; v != nil && v.State != Known && v.State != Absent {
		d.because("what it sees of its own cgroup cannot be read (%s); assumed to be what can be seen from here", v.Error)
	}
	if why != "" {
		d.because("%s", why)
		return Limit{}, false
	}
	if own, found := f.Own(); !found || own.Dir != l.Dir {
		d.because("it uses %s as its own cgroup", path.Clean(l.Dir))
	}
	cpus, limited := runtimeLimit(l, minor)
	switch {
	case l.State == Absent:
		d.because("its own cgroup %s has no limit file", l.Dir)
	case l.State == Unreadable:
		d.because("the limit of its own cgroup %s cannot be read, so the runtime assumes that there is none: %s", l.Dir, l.Error)
	case limited:
		l.CPUs = cpus
		return l, true
	case l.State == NoLimit:
		d.because("its own cgroup has no limit (%s)", l.describe())
	default:
		d.because("to the runtime, %s is not a limit", l.describe())
	}
	return Limit{}, false
}

// goLimit is what the runtime finds as the limit of its own cgroup, or why it finds none.
// In facts made by hand it is the first limit.
func goLimit(f Facts, minor int) (l Limit, why string) {
	own, found := f.Own()
	root := f.Cgroup.SeenRoot()
	misses := "Go 1.25 misses the limit of " + own.Dir + ": the root of its mount is " + root + "  (golang/go#76390)"
	seen, read := f.seen()
	switch v := f.Cgroup.View; {
	case !read && (!found || v != nil && v.State == Absent):
		why = "it does not find its own CPU cgroup"
		if v != nil && v.Error != "" {
			why += ": " + v.Error
		}
		return Limit{}, why
	case !read && minor < minorGroupFirst && root != "/":
		return Limit{}, misses
	case !read:
		return own, ""
	case v != nil && v.State == Absent && seen.goPlace(minor).why != "":
		return Limit{}, "it does not find its own CPU cgroup: none of its mounts shows its cgroup " + own.Dir + " (this happens in a cgroup namespace without a new mount)"
	}
	place := seen.goPlace(minor)
	if place.why != "" {
		return Limit{}, "it does not find its own CPU cgroup: " + place.why
	}
	there, ok := seen.at(place.version, place.dir)
	same := found && place.version == f.Cgroup.Version && path.Clean(place.dir) == path.Clean(seen.Dir)
	switch {
	case same:
		return own, "" // by the reader's name
	case !ok || there.State == Absent:
		if minor < minorGroupFirst && found && root != "/" {
			return Limit{}, misses
		}
		return Limit{}, "it finds no limit of its own cgroup: there is no " + limitFile(place.version, place.dir)
	}
	return there, ""
}

// goInt32 is the runtime's int32(limit). For a number out of range, x86 gives the lowest
// number, and the other processors that Go runs on the nearest; for NaN they give 0.
func goInt32(limit float64, arch string) int {
	x86 := arch == "" || arch == "amd64" || arch == "386"
	switch {
	case limit >= math.MinInt32 && limit <= math.MaxInt32:
		return int(limit)
	case x86:
		return math.MinInt32
	case limit > 0:
		return math.MaxInt32
	case limit < 0:
		return math.MinInt32
	}
	return 0
}

// finite keeps a ratio out of the decision that JSON cannot hold.
func finite(cpus float64) float64 {
	if math.IsInf(cpus, 0) || math.IsNaN(cpus) {
		return 0
	}
	return cpus
}

// die ends the decision of a runtime that throws "procresize: invalid arg" with such a
// number (golang/go#80783).
func (d *Decision) die(l Limit, n int) Decision {
	d.because("%s: from this quota ÷ period the runtime computes GOMAXPROCS=%d and crashes at start: procresize: invalid arg (golang/go#80783)", l.describe(), n)
	d.add(Candidate{What: "limit", CPUs: finite(l.CPUs), File: l.File, Raw: l.Raw})
	d.Outcome = Dies
	return *d
}

// runtimeLimit parses the raw text as the runtime does, which is stricter than this
// package: at most 63 bytes, one space in cpu.max, a newline at the end. It does not
// check whether the period is 0.
func runtimeLimit(l Limit, minor int) (cpus float64, limited bool) {
	if l.PeriodFile != "" {
		quota, ok := runtimeLine(l.Raw, minor)
		if !ok || quota < 0 {
			return 0, false
		}
		period, ok := runtimeLine(l.PeriodRaw, minor)
		return float64(quota) / float64(period), ok
	}
	quotaText, periodText, ok := strings.Cut(l.Raw, " ")
	if !ok || len(l.Raw) >= runtimeBuffer || quotaText == "max" {
		return 0, false
	}
	quota, ok1 := runtimeNumber(quotaText, minor)
	period, ok2 := runtimeLine(periodText, minor)
	return float64(quota) / float64(period), ok1 && ok2
}

// runtimeBuffer is the size of the runtime's buffer for a limit file. To the runtime, a
// file that fills it is malformed.
const runtimeBuffer = 64

func runtimeLine(text string, minor int) (int64, bool) {
	line, _, ended := strings.Cut(text, "\n")
	n, ok := runtimeNumber(line, minor)
	return n, ok && ended && len(text) < runtimeBuffer
}

// runtimeNumber is strconv.ParseInt since Go 1.26. Before, a plus sign was not allowed,
// and a single minus sign was 0.
func runtimeNumber(text string, minor int) (int64, bool) {
	if minor < minorPlusSign {
		if strings.HasPrefix(text, "+") {
			return 0, false
		} else if text == "-" {
			return 0, true
		}
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
