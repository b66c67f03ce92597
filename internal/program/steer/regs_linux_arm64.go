//go:build !portable

package steer

import (
	"debug/elf"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// machine is what procfit is built for, and with it every program that it can call.
const machine = elf.EM_AARCH64

// oldest is the first release with debugCallV2 for this machine.
const oldest = "go1.18"

// registers are the general registers of a thread.
type registers struct{ unix.PtraceRegsArm64 }

// The regset of the floating-point and vector registers (NT_PRFPREG), and room for it. Go
// code does not use the longer ones of SVE.
const (
	vectorSet  = 2
	vectorRoom = 1 << 10
)

// callSet is the regset of the number of the system call, an int32 that is -1 outside of one
// (NT_ARM_SYSTEM_CALL).
const callSet = 0x404

// thread is what place.go asks. Compiled code keeps its goroutine in R28.
func (r *registers) thread(tid int) thread {
	call, b := int32(0), make([]byte, 4)
	if n, err := getSet(tid, callSet, b); err == nil && n == len(b) {
		call = int32(binary.LittleEndian.Uint32(b))
	}
	return thread{pc: r.Pc, sp: r.Sp, g: r.Regs[28], inCall: call >= 0}
}

// transferred reports whether the thread comes back from a read or a write that did
// something. At such a stop the kernel shows in R7 that it is the end of the call, and its number
// is in R8 still.
func (r *registers) transferred() bool {
	return r.Regs[7] == 1 && transfers[r.Regs[8]] && int64(r.Regs[0]) >= 0
}

// systemCall is the instruction of a system call, SVC 0.
var systemCall = []byte{0x01, 0x00, 0x00, 0xd4}

// The trap of the protocol is BRK 0, at which PC stays.
const (
	trapSize = 4
	trapBack = 0 // from PC to the trap
)

var trap = []byte{0x00, 0x00, 0x20, 0xd4}

// link is the register of the return address.
const link = 30

// begin turns the registers into those with which the thread goes on in debugCallV2, which
// is to return to where the thread stands: LR is saved at the new SP, 16 lower, and is
// then PC; the size of the arguments, none, is 16 below.
func (r *registers) begin(debugCall uint64) (push []word) {
	r.Sp -= 16
	push = []word{{r.Sp, r.Regs[link]}, {r.Sp - 16, 0}}
	r.Regs[link], r.Pc = r.Pc, debugCall
	return push
}

// status is what debugCallV2 asks.
func (r *registers) status() uint64 { return r.Regs[20] }

// call has the thread call a function with an argument, in registers as since Go 1.18.
func (r *registers) call(function, argument uint64) (push []word) {
	r.Regs[link] = r.Pc + trapSize
	r.Pc, r.Regs[0], r.Regs[26] = function, argument, 0
	return nil
}

func (r *registers) result() uint64 { return r.Regs[0] }

// resume is for after a trap that is answered: PC goes past it. After the return of the call
// LR is what the word at SP says; 0: it stays.
func (r *registers) resume(returns uint64) {
	r.Pc += trapSize
	if returns != 0 {
		r.Regs[link] = returns
	}
}

// reason is where debugCallV2 has the string that says why it refuses.
func (r *registers) reason() uint64 { return r.Sp + 8 }

// restored are the registers as they were before begin.
func (r *registers) restored(registers) registers { return *r }
