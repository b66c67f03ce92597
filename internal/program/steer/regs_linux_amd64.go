//go:build !portable

package steer

import (
	"debug/elf"

	"golang.org/x/sys/unix"
)

// machine is what procfit is built for, and with it every program that it can call.
const machine = elf.EM_X86_64

// oldest is the first release with debugCallV2 for this machine.
const oldest = "go1.17"

// registers are the general registers of a thread.
type registers struct{ unix.PtraceRegsAmd64 }

// The regset of the floating-point and vector registers (NT_X86_XSTATE), and room for it:
// 11 KiB with AMX.
const (
	vectorSet  = 0x202
	vectorRoom = 16 << 10
)

// thread is what place.go asks. Compiled code keeps its goroutine in R14 (ABIInternal).
func (r *registers) thread(int) thread {
	return thread{pc: r.Rip, sp: r.Rsp, g: r.R14, inCall: int64(r.Orig_rax) >= 0}
}

// enosys is what the kernel shows as the result of a system call at its entry.
const enosys = -38

// transferred reports whether the thread comes back from a read or a write that did
// something.
func (r *registers) transferred() bool {
	return transfers[r.Orig_rax] && int64(r.Rax) != enosys && int64(r.Rax) >= 0
}

// systemCall is the instruction of a system call.
var systemCall = []byte{0x0f, 0x05}

// The trap of the protocol is INT3, after which PC is at the next instruction.
const (
	trapSize = 1
	trapBack = 1 // from PC to the trap
)

var trap = []byte{0xcc}

// begin turns the registers into those with which the thread goes on in debugCallV2, which
// is to return to where the thread stands: its PC is pushed, and the size of the arguments,
// none, is 16 below.
func (r *registers) begin(debugCall uint64) (push []word) {
	r.Rsp -= 8
	push = []word{{r.Rsp, r.Rip}, {r.Rsp - 16, 0}}
	r.Rip, r.Orig_rax = debugCall, ^uint64(0)
	return push
}

// status is what debugCallV2 asks.
func (r *registers) status() uint64 { return r.R12 }

// call has the thread call a function with an argument, in registers as since Go 1.17.
func (r *registers) call(function, argument uint64) (push []word) {
	r.Rsp -= 8
	push = []word{{r.Rsp, r.Rip}}
	r.Rip, r.Rax, r.Rdx = function, argument, 0
	return push
}

func (r *registers) result() uint64 { return r.Rax }

// resume is for after a trap that is answered; link is what a return address lies in, which
// this machine has on the stack.
func (r *registers) resume(uint64) {}

// reason is where debugCallV2 has the string that says why it refuses.
func (r *registers) reason() uint64 { return r.Rsp }

// restored are the registers as they were before begin. The bases of FS and GS belong to the
// thread, which may be another one now.
func (r *registers) restored(now registers) registers {
	back := *r
	back.Fs_base, back.Gs_base = now.Fs_base, now.Gs_base
	back.Orig_rax = ^uint64(0)
	return back
}
