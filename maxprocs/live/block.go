package live

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"sync/atomic"
)

// block is what procfit finds in the data of this program, by the mark. procfit writes want;
// the program writes all else. But for the address of the counters it is words of 64 bits,
// in the order of this type. Another order is another layout.
type block struct {
	mark     [4]uint64
	layout   uint64
	counters atomic.Pointer[counters] // of the Meter that is read
	want     [5]atomic.Uint64         // a request, and its sum

	state, looked       atomic.Uint64 // looked: when the program last did, on CLOCK_MONOTONIC
	procs, before, most atomic.Uint64 // GOMAXPROCS now and before the lease, and the highest that is accepted
	holder, seq, why    atomic.Uint64 // the lease; the request that was answered last; the answer, or why the lease ended
	took, when          atomic.Uint64 // how long the last change took, and when it was over
	refusal             [16]atomic.Uint64

	// over is the lease that ended last, which does not begin again, also not after another
	// call of Allow. procfit does not read it.
	over atomic.Uint64
}

var shared = block{layout: 1, mark: [4]uint64{0x9c72852e24de479a, 0x681e9c61df4ab2c9, 0x9ba72488fe84d91a, 0x80d760e263beee6f}}

// States of a block. 0: the program has not called Allow.
const (
	allowed = 1
	off     = 2
)

// reason is why a request was not obeyed, or a lease ended. 0: it was obeyed.
type reason uint64

const (
	outOfRange reason = 1 + iota
	taken
	refused
	ranOut
	released
	setByOther
	switchedOff
)

type request struct {
	lease, seq uint64 // a random number, not 0; another seq for each request
	procs      uint64 // 0: the lease is released
	end        int64  // on CLOCK_MONOTONIC, in nanoseconds
}

// wanted is what procfit has written. The sum of its words shows that none is of an earlier
// request: then it is whole.
func (b *block) wanted() (q request, whole bool) {
	var w [len(b.want)]uint64
	sum := b.mark[0]
	for i := range w {
		w[i] = b.want[i].Load()
		if i < len(w)-1 {
			sum = bits.RotateLeft64((sum^w[i])*b.mark[1], 29)
		}
	}
	return request{w[0], w[1], w[2], int64(w[3])}, w[0] != 0 && w[4] == sum
}

func (b *block) say(why string) {
	for i := range b.refusal {
		var word [8]byte
		if 8*i < len(why) {
			copy(word[:], why[8*i:])
		}
		b.refusal[i].Store(binary.LittleEndian.Uint64(word[:]))
	}
}

var errPanicked = errors.New("the function of the program that is asked about experiments panicked")

// counters are those of a Meter. Like a block they are words of 64 bits, which procfit reads.
type counters struct {
	started, ended, failed, panics atomic.Uint64
	streams, hijacked              atomic.Uint64
	stamped                        atomic.Uint64 // 1: a Listener of this Meter has accepted a connection with a stamp
	arrival, handler, ready        histogram
}

// nobody is in place of a Meter while none is used.
var nobody counters

// publish makes the counters those that procfit reads, unless there are others already.
func (c *counters) publish() {
	if !shared.counters.CompareAndSwap(nil, c) {
		shared.counters.CompareAndSwap(&nobody, c)
	}
}
