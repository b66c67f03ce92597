package goproc

import (
	"encoding/binary"
	"go/version"
	"slices"
	"strings"
)

// layout is where fields of runtime.sched lie in it (type schedt in
// runtime/runtime2.go), in bytes, on 64-bit machines. nmspinning and needspinning
// follow npidle, 4 bytes each; totaltime follows procresizetime.
type layout struct {
	size           uint64
	lock           uint64
	nmidle         uint64
	npidle         uint64
	procresizetime uint64
	custom         uint64 // customGOMAXPROCS; 0: there is none before Go 1.25
	timeToRun      uint64
	mutexWait      uint64 // totalMutexWaitTime, 8 bytes after the end of timeToRun
}

// layoutOf returns the layout for a Go version as the toolchain names itself. The
// offsets are those of the DWARF of programs that each of these releases built,
// for amd64 and arm64 the same; see docs/evidence/live-values.md for the releases that were run.
//
// It is false, so that nothing is read of runtime.sched, for releases that are
// older or newer (Go 1.18 and 1.19 had other histograms), for development
// versions and betas, and for the experiment staticlockranking, which makes every
// mutex in it larger. Other experiments ("go1.26.1 X:nodwarf5") change nothing in
// it. Vendors' builds ("go1.25.3-custom", "go1.22.9 (Red Hat 1.22.9-1.el9)") pass
// for the release that they name: a fork that moved these fields is found out by
// the size of the symbol or by voteSched.
func layoutOf(goVersion string) (layout, bool) {
	release, ok := Release(goVersion)
	if !ok {
		return layout{}, false
	}
	switch release {
	case "go1.20", "go1.21":
		return layout{0x660, 0x18, 0x28, 0x58, 0x128, 0, 0x140, 0x658}, true
	case "go1.22", "go1.23", "go1.24":
		return layout{0x1aa8, 0x18, 0x28, 0x58, 0x128, 0, 0x140, 0x658}, true
	case "go1.25":
		return layout{0x1ac0, 0x20, 0x30, 0x60, 0x138, 0x148, 0x158, 0x670}, true
	case "go1.26", "go1.27":
		return layout{0x1ad8, 0x20, 0x40, 0x70, 0x148, 0x158, 0x168, 0x680}, true
	}
	return layout{}, false
}

// Release is the release whose records a program's runtime has, as go1.26, from a Go version
// as the toolchain names itself. It is false for development versions and betas, and for the
// experiment staticlockranking: layoutOf has the reasons.
func Release(goVersion string) (string, bool) {
	release, rest, _ := strings.Cut(strings.Replace(goVersion, "-X:", " X:", 1), " ") // as from Go 1.26 on
	experiments, _ := strings.CutPrefix(rest, "X:")
	if !version.IsValid(release) || strings.Contains(release, "devel") || strings.Contains(release, "beta") ||
		slices.Contains(strings.FieldsFunc(experiments, func(r rune) bool { return r == ',' || r == ' ' }), "staticlockranking") {
		return "", false
	}
	return version.Lang(release), true
}

// voteSched returns the address of runtime.sched, 0 when it is not found. It is
// that from which all these functions use the fields that they use in the
// runtime's source, at the layout's distances, which so is confirmed:
//
//	schedtrace   locks lock, and prints npidle, nmspinning, needspinning and nmidle
//	procresize   sets procresizetime
//	casgstatus   passes timeToRun and totalMutexWaitTime, and so tells the size
//	             of what lies between them
//	schedinit    sets customGOMAXPROCS, from Go 1.25 on
//
// When two addresses fit it is neither.
func voteSched(refs map[string][]ref, l layout) uint64 {
	found := uint64(0)
	for _, r := range refs[casgstatus] {
		base := r.addr - l.timeToRun
		if r.access != address || base == found {
			continue
		}
		fits := slices.Contains(refs[schedtrace], ref{address, 0, base + l.lock}) &&
			reads(refs[schedtrace], 4, base+l.npidle) &&
			reads(refs[schedtrace], 4, base+l.npidle+4) &&
			reads(refs[schedtrace], 4, base+l.npidle+8) &&
			reads(refs[schedtrace], 4, base+l.nmidle) &&
			slices.Contains(refs[procresize], ref{store, 8, base + l.procresizetime}) &&
			slices.Contains(refs[casgstatus], ref{address, 0, base + l.mutexWait}) &&
			(l.custom == 0 || slices.Contains(refs[schedinit], ref{store, 1, base + l.custom}))
		if !fits {
			continue
		}
		if found != 0 {
			return 0
		}
		found = base
	}
	return found
}

// span returns the part of runtime.sched that parse needs.
func (l layout) span() (from, to uint64) { return l.npidle, l.timeToRun + latencySize }

// parse reads that part. It is false when a field has a value that it cannot have
// in a program with that GOMAXPROCS at that time: nanoseconds of the monotonic clock,
// which is the runtime's own.
func (l layout) parse(b []byte, procs int, now int64) (custom *bool, latency *Latency, ok bool) {
	from, to := l.span()
	if uint64(len(b)) != to-from {
		return nil, nil, false
	}
	number := func(off uint64) int64 { return int64(int32(binary.LittleEndian.Uint32(b[off-from:]))) }
	word := func(off uint64) int64 { return int64(binary.LittleEndian.Uint64(b[off-from:])) }
	npidle, nmspinning, needspinning := number(l.npidle), number(l.npidle+4), number(l.npidle+8)
	resized, total := word(l.procresizetime), word(l.procresizetime+8)
	if npidle < 0 || npidle > int64(procs) || nmspinning < 0 || nmspinning > int64(procs) || needspinning < 0 || needspinning > 1 ||
		resized <= 0 || resized > now || total < 0 {
		return nil, nil, false
	}
	if l.custom != 0 {
		flag := b[l.custom-from]
		if flag > 1 {
			return nil, nil, false
		}
		custom = new(flag == 1)
	}
	counts, ok := parseLatency(b[l.timeToRun-from:])
	if !ok {
		return nil, nil, false
	}
	return custom, &counts, true
}
