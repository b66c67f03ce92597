package steer

import (
	"go/version"
	"strings"

	"github.com/procfit/procfit/internal/program/goproc"
)

// offsets are where fields of the runtime's records lie in them, in bytes (types g, m and p
// in runtime/runtime2.go). The fields of g that are not here are the same in all releases:
// stack.lo 0, stack.hi 8, m 0x30; so is p.status, 4.
type offsets struct {
	status     uint64 // g.atomicstatus
	curg       uint64 // m.curg
	p          uint64 // m.p; the m's number is 0x18 further on
	mallocing  uint64 // m.mallocing
	preemptoff uint64 // m.preemptoff, a string
	locks      uint64 // m.locks
	pm         uint64 // p.m
}

const (
	gStackLo = 0
	gStackHi = 8
	gM       = 0x30
	pStatus  = 4
	running  = 2 // _Grunning
	prunning = 1 // _Prunning
)

// releases has the offsets from the DWARF of programs that these releases built, for amd64
// and arm64 the same. TestOffsets holds it against them.
var releases = map[string]offsets{
	"go1.17": before23, "go1.18": before23, "go1.19": before23, "go1.20": before23, "go1.21": before23, "go1.22": before23,
	"go1.23": {0x98, 0xc0, 0xd0, 0xf0, 0xf8, 0x108, 0x30},
	"go1.24": {0x98, 0xc0, 0xd0, 0xf0, 0xf8, 0x108, 0x30},
	"go1.25": {0x90, 0xb8, 0xc8, 0xe8, 0xf0, 0x100, 0x30},
	"go1.26": {0x90, 0xb8, 0xd0, 0xf0, 0xf8, 0x108, 0x30},
	"go1.27": {0x90, 0xb8, 0xd0, 0xf0, 0xf8, 0x108, 0x30},
}

var before23 = offsets{0x90, 0xc0, 0xd0, 0xf0, 0xf8, 0x108, 0x38}

// offsetsOf are those of the program, or why a call is refused.
func offsetsOf(goVersion string) (offsets, Why) {
	release, ok := goproc.Release(goVersion)
	// In a secret computation (experiment runtimesecret) the runtime preempts nothing, and
	// where it notes that is not in the table.
	if !ok || strings.Contains(goVersion, "runtimesecret") {
		return offsets{}, Unknown
	}
	o, known := releases[release]
	switch {
	case known:
		return o, ""
	case version.Compare(release, "go1.17") < 0:
		return offsets{}, TooOld
	}
	return offsets{}, Unknown
}
