package goproc

import (
	"debug/elf"
	"fmt"
	"slices"
)

// ref is what an instruction does with a variable of the program.
type ref struct {
	access access
	size   int    // bytes; 0 of an address
	addr   uint64 // in memory
}

type access uint8

const (
	load    access = iota // reads it
	store                 // writes it
	address               // takes its address
)

// refsOf returns the decoder of a machine's code: the references to variables in
// the code at pc, by instruction order.
func refsOf(machine elf.Machine) (func(code []byte, pc uint64) []ref, error) {
	switch machine {
	case elf.EM_X86_64:
		return x86Refs, nil
	case elf.EM_AARCH64:
		return arm64Refs, nil
	}
	return nil, fmt.Errorf("%w: it is stripped, and %v code is not decoded", ErrUndecodable, machine)
}

// reads tells whether one of the refs loads so many bytes from addr. Code that is
// not optimised takes the address of what it loads atomically.
func reads(refs []ref, size int, addr uint64) bool {
	return slices.Contains(refs, ref{load, size, addr}) || slices.Contains(refs, ref{address, 0, addr})
}
