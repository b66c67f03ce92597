package goproc

import (
	"context"
	"debug/elf"
	"errors"
	"io"
	"time"
)

// Addresses are where variables of a program's runtime lie, before the load bias.
type Addresses struct {
	Source Source
	Procs  uint64 // runtime.gomaxprocs, int32
	NumCPU uint64 // runtime.ncpu or numCPUStartup, int32; 0: not found
	Sched  uint64 // runtime.sched; 0: not found, or of an unknown layout
}

// Locate finds them in a program's file and, where that has no symbol table, in
// the memory of a process of it. A program that is linked to a fixed address
// needs none: its file's segments, at their addresses, do too.
func Locate(program, mem io.ReaderAt, bias uint64) (Addresses, error) {
	f := new(file)
	if _, err := f.read(context.Background(), program, maxRead); err != nil {
		return Addresses{}, err
	}
	return f.locate(mem, bias)
}

// analyse does what needs only the file, and leaves of its image what is needed
// later: a Cache holds many.
func (f *file) analyse(r io.ReaderAt) (err error) {
	f.image.r = r
	defer func() { f.image.r, f.image.sections = nil, nil }()
	if err := f.image.decodable(); err != nil {
		return err
	}
	f.layout, _ = layoutOf(f.program.GoVersion)
	found, err := f.image.symbols(map[string]uint64{
		"runtime.gomaxprocs":    4,
		"runtime.ncpu":          4,
		"runtime.numCPUStartup": 4,
		"runtime.sched":         f.layout.size,
		"runtime.memstats":      anySize,
		"runtime.work":          anySize,
	})
	if err != nil {
		return err
	}
	f.gc.inMemstats, f.gc.inWork = found["runtime.memstats"], found["runtime.work"]
	if procs, ok := found["runtime.gomaxprocs"]; ok {
		f.at = Addresses{Source: Symbol, Procs: procs.addr, NumCPU: found["runtime.numCPUStartup"].addr, Sched: found["runtime.sched"].addr}
		if f.at.NumCPU == 0 {
			f.at.NumCPU = found["runtime.ncpu"].addr
		}
		return nil
	}
	if _, err := refsOf(f.image.machine); err != nil {
		return err
	}
	if f.table, err = f.image.findPclntab(); err != nil {
		return err
	}
	f.code, err = f.table.functions(r, "runtime.", decoded())
	return err
}

// locate returns the addresses; in a stripped program they are found with the
// first process whose memory can be read.
func (f *file) locate(mem io.ReaderAt, bias uint64) (Addresses, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at.Procs == 0 && f.bad == nil {
		if f.vain.resting() {
			return Addresses{}, f.starting
		}
		began := time.Now()
		at, err := f.decode(&budget{r: mem, left: maxMemory}, bias)
		switch {
		case errors.Is(err, ErrUndecodable):
			f.bad = err
		case errors.Is(err, ErrStarting): // and maybe for ever: that is not looked for all the time
			f.starting = err
			f.vain.took(time.Since(began))
		}
		if err != nil {
			return Addresses{}, err
		}
		f.at = at
	}
	return f.at, f.bad
}

func (f *file) decode(mem io.ReaderAt, bias uint64) (Addresses, error) {
	refs, err := references(mem, f.image, bias, f.table, f.code)
	if err != nil {
		return Addresses{}, err
	}
	at := Addresses{Source: Decoded}
	if at.Procs, err = voteProcs(refs); err != nil {
		return Addresses{}, err
	}
	at.NumCPU = voteNumCPU(refs)
	if f.layout.size == 0 {
		return at, nil
	}
	if sched := voteSched(refs, f.layout); f.image.holds(sched, f.layout.size, elf.PF_W) {
		at.Sched = sched
	}
	return at, nil
}
