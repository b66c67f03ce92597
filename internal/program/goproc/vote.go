package goproc

import (
	"debug/elf"
	"fmt"
	"io"
)

// The functions of the runtime that are decoded, all linked into every Go
// program. The first 4-byte load of procresize is "old := gomaxprocs"; the others
// read it among other variables. See voteSched and voteNumCPU for the rest.
const (
	procresize = "runtime.procresize"
	schedtrace = "runtime.schedtrace"
	gcStart    = "runtime.gcStart"
	schedinit  = "runtime.schedinit"
	casgstatus = "runtime.casgstatus"
	osinit     = "runtime.osinit"
)

func decoded() []string {
	return []string{
		procresize, schedtrace, gcStart, schedinit, casgstatus, osinit,
		"runtime.sysmon", "runtime.stopTheWorldWithSema", "runtime.startTheWorldWithSema", "runtime.GOMAXPROCS",
	}
}

// minVotes is how many functions, procresize among them, must agree.
const minVotes = 3

// references decodes functions of a running program: what each of them does with
// variables in writable segments, whose addresses are those before the load bias.
func references(mem io.ReaderAt, m *image, bias uint64, t pclntab, code map[string]span) (map[string][]ref, error) {
	decode, err := refsOf(m.machine)
	if err != nil {
		return nil, err
	}
	text, err := findText(mem, m, bias, t)
	if err != nil {
		return nil, err
	}
	found := make(map[string][]ref)
	for _, name := range decoded() {
		s, ok := code[name]
		if !ok {
			continue
		}
		start, b := text+uint64(s.start), make([]byte, s.end-s.start)
		if !m.holds(start-bias, uint64(len(b)), elf.PF_X) {
			return nil, fmt.Errorf("%w: %s is outside of the code", ErrUndecodable, name)
		}
		if _, err := mem.ReadAt(b, int64(start)); err != nil {
			return nil, err
		}
		for _, r := range decode(b, start) {
			if r.addr -= bias; m.holds(r.addr, uint64(r.size), elf.PF_W) {
				found[name] = append(found[name], r)
			}
		}
	}
	return found, nil
}

// voteProcs returns the address that procresize loads first, if enough functions
// load it too and no other address has as many.
func voteProcs(refs map[string][]ref) (uint64, error) {
	votes, voters, first := make(map[uint64]int), 0, uint64(0)
	for _, name := range decoded() {
		seen := make(map[uint64]bool)
		for _, r := range refs[name] {
			if r.access != load || r.size != 4 {
				continue
			}
			if len(seen) == 0 && name == procresize {
				first = r.addr
			}
			if !seen[r.addr] {
				seen[r.addr] = true
				votes[r.addr]++
			}
		}
		if len(seen) > 0 {
			voters++
		}
	}
	if votes[first] == 0 {
		return 0, fmt.Errorf("%w: %s loads nothing", ErrUndecodable, procresize)
	}
	if votes[first] < minVotes {
		return 0, fmt.Errorf("%w: %d of %d functions agree", ErrUndecodable, votes[first], voters)
	}
	second := 0
	for addr, n := range votes {
		if addr != first {
			second = max(second, n)
		}
	}
	if second >= votes[first] {
		return 0, fmt.Errorf("%w: two variables have %d and %d votes of %d", ErrUndecodable, votes[first], second, voters)
	}
	return first, nil
}

// voteNumCPU returns the address of what runtime.NumCPU returns, ncpu, from Go
// 1.25 on numCPUStartup: the first 4 bytes that osinit writes, which gcStart and
// schedinit must read. 0: not found.
func voteNumCPU(refs map[string][]ref) uint64 {
	for _, r := range refs[osinit] {
		if r.access != store || r.size != 4 {
			continue
		}
		if reads(refs[gcStart], 4, r.addr) && reads(refs[schedinit], 4, r.addr) {
			return r.addr
		}
		break
	}
	return 0
}
