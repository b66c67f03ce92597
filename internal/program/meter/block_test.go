package meter

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// shown is a block as a program shows it.
func shown(change func(set func(word int, v uint64))) []byte {
	words := make([]uint64, blockWords)
	mark := markOf()
	copy(words, mark[:])
	words[atLayout], words[atCounters], words[atState] = layout, 0xc000012000, stateAllowed
	words[atState+2], words[atState+3], words[atState+4] = 2, 4, 8
	change(func(word int, v uint64) { words[word] = v })
	return bytesOf(words...)
}

// TestDecode: a block that no program has is not believed.
func TestDecode(t *testing.T) {
	x, ok := decode(shown(func(set func(int, uint64)) {
		set(atRefusal, binary.LittleEndian.Uint64([]byte("draining")))
		set(atState+7, uint64(Refused))
	}))
	if !ok || x.procs != 2 || x.before != 4 || x.most != 8 || x.why != Refused || x.refusal != "draining" {
		t.Errorf("%+v, %v", x, ok)
	}
	for name, change := range map[string]func(set func(int, uint64)){
		"another mark":         func(set func(int, uint64)) { set(3, 1) },
		"another layout":       func(set func(int, uint64)) { set(atLayout, 2) },
		"a state too many":     func(set func(int, uint64)) { set(atState, stateOff+1) },
		"counters at odds":     func(set func(int, uint64)) { set(atCounters, 0xc000012001) },
		"counters nowhere":     func(set func(int, uint64)) { set(atCounters, 1<<63) },
		"2^40 Ps":              func(set func(int, uint64)) { set(atState+2, 1<<40) },
		"2^64-1 allowed":       func(set func(int, uint64)) { set(atState+4, math.MaxUint64) },
		"an answer too many":   func(set func(int, uint64)) { set(atState+7, uint64(firstOwn)) },
		"a look before 0":      func(set func(int, uint64)) { set(atState+1, 1<<63) },
		"a change before 0 ns": func(set func(int, uint64)) { set(atState+9, 1<<63) },
	} {
		if x, ok := decode(shown(change)); ok {
			t.Errorf("%s: %+v", name, x)
		}
	}
}

// FuzzDecode: whatever a program shows, numbers are possible, texts can be printed, and the
// histograms have no more buckets than one of maxprocs/live.
func FuzzDecode(f *testing.F) {
	f.Add(shown(func(func(int, uint64)) {}))
	f.Add(shown(func(set func(int, uint64)) {
		for i := range refusalWords {
			set(atRefusal+i, 0xffff1b5b33316d20)
		}
	}))
	f.Add(make([]byte, 8*countersWords))
	f.Fuzz(func(t *testing.T, b []byte) {
		if x, ok := decode(b); ok {
			if x.procs < 0 || x.procs > mostProcs || x.most < 0 || x.looked < 0 || int64(x.counters) < 0 || sentences[x.why] == "" && x.why != Obeyed {
				t.Errorf("%+v", x)
			}
			if !utf8.ValidString(x.refusal) || strings.ContainsAny(x.refusal, "\x1b\n\x00") {
				t.Errorf("refusal %q", x.refusal)
			}
		}
		if len(b) == 8*countersWords {
			m := decodeCounters([8 * countersWords]byte(b))
			if len(m.Arrival.Counts) > buckets || m.Arrival.Sum < 0 || m.Handler.Sum < 0 || m.InFlight > math.MaxUint64-m.Requests {
				t.Errorf("%+v", m)
			}
		}
	})
}
