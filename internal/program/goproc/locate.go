package goproc

import (
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
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

// Locate finds them in a program's file and, where that shows neither them nor where its code
// begins, by the memory of a process of it.
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
		"runtime.gcController":  anySize,
	})
	if err != nil {
		return err
	}
	f.gc.inMemstats, f.gc.inWork = found["runtime.memstats"], found["runtime.work"]
	if v := found["runtime.gcController"]; v.size >= memoryLimit+8 {
		f.memoryLimit = v.addr + memoryLimit
	}
	if procs, ok := found["runtime.gomaxprocs"]; ok {
		cpus := cmp.Or(found["runtime.numCPUStartup"].addr, found["runtime.ncpu"].addr)
		f.at = Addresses{Source: Symbol, Procs: procs.addr, NumCPU: cpus, Sched: found["runtime.sched"].addr}
		return nil
	}
	if _, err := refsOf(f.image.machine); err != nil {
		return err
	}
	if f.table, err = f.image.findPclntab(); err != nil {
		return err
	}
	if f.code, err = f.table.functions(r, decoded()); err != nil {
		return err
	}
	text, err := f.image.textStart(f.table)
	if err == nil && text != 0 { // else the memory of a process shows it
		f.at, err = f.decode(loaded{f.image}, 0, text)
	}
	return err
}

// textStart is where the text begins before the load bias: as the module record in the file has it, or
// what a loader fills that with; 0: neither is there.
func (m *image) textStart(t pclntab) (uint64, error) {
	text, err := findText(loaded{m}, m, 0, t)
	if errors.Is(err, errStarting) {
		return m.relocatedText(t), nil
	}
	return text, err
}

// loaded reads a file at the addresses of its segments, before the load bias.
type loaded struct{ *image }

func (m loaded) ReadAt(p []byte, addr int64) (n int, err error) {
	off, ok := m.offset(uint64(addr))
	if ok {
		n, err = m.r.ReadAt(p, off)
	}
	if !ok || err == io.EOF {
		err = errBeyond
	}
	return n, err
}

// locate returns the addresses. The file of a stripped program has them in its code, which no user of
// a process can change. If the file does not show where that code begins, the first process whose
// memory can be read does. Others do not wait for that one, which may never answer.
func (f *file) locate(mem io.ReaderAt, bias uint64) (Addresses, error) {
	if at, err := f.located(); at.Procs != 0 || err != nil {
		return at, err
	}
	began := time.Now()
	var at Addresses
	mem = &budget{r: mem, left: maxMemory}
	text, err := findText(mem, f.image, bias, f.table)
	if err == nil {
		at, err = f.decode(mem, bias, text)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err == nil:
		f.at = at
	case errors.Is(err, ErrUndecodable):
		f.bad = err
	case errors.Is(err, errStarting): // and maybe for ever: that is not looked for all the time
		f.starting = err
		f.vain.took(time.Since(began))
	}
	return at, err
}

// located is what is known of the addresses; nothing: they are to be looked for.
func (f *file) located() (Addresses, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.at.Procs == 0 && f.bad == nil && f.vain.resting() {
		return Addresses{}, f.starting
	}
	return f.at, f.bad
}

func (f *file) decode(mem io.ReaderAt, bias, text uint64) (Addresses, error) {
	refs, err := references(mem, f.image, bias, text, f.code)
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

// references decodes functions of a program whose text begins there: what each of them does with
// variables in writable segments, whose addresses are those before the load bias.
func references(mem io.ReaderAt, m *image, bias, text uint64, code map[string]span) (map[string][]ref, error) {
	decode, err := refsOf(m.machine)
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
