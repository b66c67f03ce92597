package goproc

import (
	"debug/elf"
	"fmt"
	"io"
)

// The functions of the runtime that read gomaxprocs, all linked into every Go
// program. The first 4-byte load of procresize is "old := gomaxprocs"; the
// others read it among other variables.
const voteFirst = "runtime.procresize"

func voters() []string {
	return []string{
		voteFirst, "runtime.schedtrace", "runtime.sysmon", "runtime.stopTheWorldWithSema",
		"runtime.startTheWorldWithSema", "runtime.gcStart", "runtime.GOMAXPROCS",
	}
}

// minVotes is how many functions, procresize among them, must agree.
const minVotes = 3

// loadsOf returns the decoder of a machine's code.
func loadsOf(machine elf.Machine) (func(code []byte, pc uint64) []uint64, error) {
	switch machine {
	case elf.EM_X86_64:
		return x86Loads, nil
	}
	return nil, fmt.Errorf("%w: it is stripped, and %v code is not decoded", ErrUndecodable, machine)
}

// decode finds runtime.gomaxprocs in the code of a running program and returns
// its address before the load bias.
func decode(mem io.ReaderAt, m *image, bias uint64, t pclntab, code map[string]span) (uint64, error) {
	loads, err := loadsOf(m.machine)
	if err != nil {
		return 0, err
	}
	text, err := findText(mem, m, bias, t)
	if err != nil {
		return 0, err
	}
	ballots := make(map[string][]uint64)
	for name, s := range code {
		start, b := text+uint64(s.start), make([]byte, s.end-s.start)
		if !m.holds(start-bias, uint64(len(b)), elf.PF_X) {
			return 0, fmt.Errorf("%w: %s lies outside of the code", ErrUndecodable, name)
		}
		if _, err := mem.ReadAt(b, int64(start)); err != nil {
			return 0, err
		}
		for _, addr := range loads(b, start) {
			if m.holds(addr-bias, 4, elf.PF_W) {
				ballots[name] = append(ballots[name], addr-bias)
			}
		}
	}
	return vote(ballots)
}

// vote returns the address that procresize loads first, if enough functions load
// it too and no other address has as many.
func vote(ballots map[string][]uint64) (uint64, error) {
	if len(ballots[voteFirst]) == 0 {
		return 0, fmt.Errorf("%w: %s loads nothing", ErrUndecodable, voteFirst)
	}
	first := ballots[voteFirst][0]
	votes := make(map[uint64]int)
	for _, loads := range ballots {
		seen := make(map[uint64]bool)
		for _, addr := range loads {
			if !seen[addr] {
				seen[addr] = true
				votes[addr]++
			}
		}
	}
	if votes[first] < minVotes {
		return 0, fmt.Errorf("%w: %d of %d functions agree", ErrUndecodable, votes[first], len(ballots))
	}
	for addr, n := range votes {
		if addr != first && n >= votes[first] {
			return 0, fmt.Errorf("%w: two variables have %d votes each of %d", ErrUndecodable, n, len(ballots))
		}
	}
	return first, nil
}
