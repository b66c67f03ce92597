package meter

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/live"
)

// What package maxprocs/live has in the memory of a program, by its types block and counters:
// words of 64 bits, little endian. What is read there is checked, and decides neither where
// more is read, but for the address of the counters, nor how much.
const (
	layout = 1

	markWords    = 4
	atLayout     = 4
	atCounters   = 5
	atWant       = 6 // a request: lease, seq, procs, end, and their sum
	atState      = 11
	atRefusal    = 21
	refusalWords = 16
	blockWords   = atRefusal + refusalWords

	// stateAllowed and stateOff are what the state can be, in addition to 0.
	stateAllowed = 1
	stateOff     = 2

	buckets       = 417               // of a histogram, after which comes its sum
	atArrival     = 7                 // the first of three histograms
	countersWords = 7 + 3*(buckets+1) // of a Meter
	mostProcs     = 1 << 20           // more than any machine has CPUs
)

// markOf has two words that are used for sums as well.
func markOf() [markWords]uint64 {
	return [...]uint64{0x9c72852e24de479a, 0x681e9c61df4ab2c9, 0x9ba72488fe84d91a, 0x80d760e263beee6f}
}

func bytesOf(words ...uint64) (b []byte) {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// request are the words that ask a program for a value. The sum shows the program that they
// belong together. procs 0 releases the lease.
func request(lease, seq, procs uint64, end time.Duration) []byte {
	mark := markOf()
	words, sum := []uint64{lease, seq, procs, uint64(end)}, mark[0]
	for _, w := range words {
		sum = bits.RotateLeft64((sum^w)*mark[1], 29)
	}
	return bytesOf(append(words, sum)...)
}

// block is what a program shows.
type block struct {
	counters uint64 // their address; 0: no Meter was used
	state    uint64
	end      time.Duration // of what was requested last, on CLOCK_MONOTONIC, as looked and when
	looked   time.Duration

	procs, before, most int
	holder, seq         uint64
	why                 Why
	took, when          time.Duration
	refusal             string
}

// decode reads a block; false: it is not one, or has values that no program has.
func decode(b []byte) (x block, ok bool) {
	mark := markOf()
	if len(b) != 8*blockWords || !bytes.HasPrefix(b, bytesOf(append(mark[:], layout)...)) {
		return x, false
	}
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	s := atState
	x = block{
		counters: at(atCounters), end: time.Duration(at(atWant + 3)), state: at(s), looked: time.Duration(at(s + 1)), holder: at(s + 5), seq: at(s + 6),
		took: time.Duration(at(s + 8)), when: time.Duration(at(s + 9)),
	}
	for i, n := range []*int{&x.procs, &x.before, &x.most} {
		v := at(s + 2 + i)
		if v > mostProcs {
			return x, false
		}
		*n = int(v)
	}
	why := at(s + 7)
	if x.state > stateOff || x.counters%8 != 0 || x.counters > math.MaxInt64 || why >= uint64(firstOwn) || x.looked < 0 || x.took < 0 || x.when < 0 {
		return x, false
	}
	text, _, _ := bytes.Cut(b[8*atRefusal:], []byte{0})
	x.why, x.refusal = Why(why), phrase.Clean(strings.ToValidUTF8(string(text), ""))
	return x, true
}

// decodeCounters reads those of a Meter.
func decodeCounters(b [8 * countersWords]byte) live.Metrics {
	at := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	m := live.Metrics{Requests: at(1), Failed: at(2), Panics: at(3), Streams: at(4), Hijacked: at(5)}
	if started := at(0); started > m.Requests {
		m.InFlight = started - m.Requests
	}
	for i, h := range []*live.Histogram{&m.Arrival, &m.Handler, &m.Ready} {
		first := atArrival + i*(buckets+1)
		for j := range buckets {
			if n := at(first + j); n > 0 {
				h.Counts = append(h.Counts, make([]uint64, j+1-len(h.Counts))...)
				h.Counts[j] = n
			}
		}
		h.Sum = time.Duration(min(at(first+buckets), math.MaxInt64)).Seconds()
	}
	return m
}
