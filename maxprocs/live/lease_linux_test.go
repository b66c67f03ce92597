package live

import (
	"context"
	"errors"
	"io"
	"math"
	"math/bits"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/procfit/procfit/maxprocs"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/internal/gort"
	"github.com/procfit/procfit/maxprocs/internal/must"
)

// write writes a request as procfit does, whole.
func (b *block) write(q request) {
	words := [5]uint64{q.lease, q.seq, q.procs, uint64(q.end), b.mark[0]}
	for _, w := range words[:4] {
		words[4] = bits.RotateLeft64((words[4]^w)*b.mark[1], 29)
	}
	for i, w := range words {
		b.want[i].Store(w)
	}
}

// in is a time to come on the clock of leases.
func in(d time.Duration) int64 { return monotonic() + int64(d) }

// leasable is a lessee with a block of its own, which looks when the test says so.
func leasable(t *testing.T, procs int, opts ...Option) *lessee {
	t.Helper()
	before := runtime.GOMAXPROCS(procs)
	l := &lessee{block: &block{mark: shared.mark}}
	l.ctx, l.stop = context.WithCancel(context.Background())
	for _, o := range opts {
		o(l)
	}
	t.Cleanup(func() {
		l.end()
		runtime.GOMAXPROCS(before)
	})
	l.look()
	return l
}

// wants writes a request, has the program look, and compares what it did.
func (l *lessee) wants(t *testing.T, q request, why reason, procs int) {
	t.Helper()
	l.write(q)
	l.look()
	if got := runtime.GOMAXPROCS(0); reason(l.why.Load()) != why || l.seq.Load() != q.seq || got != procs || l.procs.Load() != uint64(procs) {
		t.Errorf("%+v: answer %d to %d, GOMAXPROCS %d (says %d), want %d and %d", q, l.why.Load(), l.seq.Load(), got, l.procs.Load(), why, procs)
	}
}

// Whoever reads that leases are allowed reads a value and a time with it.
func TestAllowTellsAtOnce(t *testing.T) {
	shared.procs.Store(0)
	shared.looked.Store(0)
	defer Allow(nil)()
	if shared.procs.Load() == 0 || shared.looked.Load() == 0 {
		t.Errorf("GOMAXPROCS %d, looked at %d", shared.procs.Load(), shared.looked.Load())
	}
}

func TestLease(t *testing.T) {
	l := leasable(t, 4, Max(6))
	if l.before.Load() != 4 || l.most.Load() != 6 || l.looked.Load() == 0 || l.holder.Load() != 0 {
		t.Errorf("before a lease: %d, at most %d, lease %d", l.before.Load(), l.most.Load(), l.holder.Load())
	}
	const mine, theirs = 7, 8
	l.wants(t, request{mine, 1, 2, in(10 * time.Second)}, 0, 2)
	if l.holder.Load() != mine || l.before.Load() != 4 || l.took.Load() == 0 || l.when.Load() == 0 {
		t.Errorf("the lease of %d, before %d, took %d", l.holder.Load(), l.before.Load(), l.took.Load())
	}
	l.wants(t, request{theirs, 1, 3, in(10 * time.Second)}, taken, 2)
	for seq, q := range []request{
		{procs: 7, end: in(time.Second)},
		{procs: math.MaxUint64, end: in(time.Second)},
		{procs: 1 << 32, end: in(time.Second)},
		{procs: 3, end: in(-time.Second)},
		{procs: 3, end: in(31 * time.Second)},
		{procs: 3, end: math.MaxInt64},
		{procs: 3, end: math.MinInt64},
	} {
		q.lease, q.seq = mine, uint64(10+seq)
		l.wants(t, q, outOfRange, 2)
	}
	l.wants(t, request{mine, 20, 6, in(10 * time.Second)}, 0, 6)
	l.wants(t, request{mine, 21, 4, in(10 * time.Second)}, 0, 4)
	l.wants(t, request{mine, 22, 1, in(10 * time.Second)}, 0, 1)
	l.wants(t, request{mine, 23, 0, 0}, released, 4)
	if l.holder.Load() != 0 {
		t.Error("a released lease is still there")
	}
	l.wants(t, request{mine, 24, 2, in(10 * time.Second)}, released, 4) // it does not begin again
	l.wants(t, request{theirs, 2, 3, in(10 * time.Second)}, 0, 3)
	l.end()
	l.end()
	if n := runtime.GOMAXPROCS(0); n != 4 || l.look() || l.state.Load() != off {
		t.Errorf("after the end: GOMAXPROCS %d, state %d", n, l.state.Load())
	}
	again := &lessee{block: l.block} // as of another Allow, with the request still there
	again.ctx, again.stop = context.WithCancel(context.Background())
	defer again.end()
	again.wants(t, request{theirs, 2, 3, in(10 * time.Second)}, switchedOff, 4)
	again.wants(t, request{9, 1, 3, in(10 * time.Second)}, 0, 3)
}

// Whatever is missing of a request, the rest of it is not obeyed, and a lease goes on.
func TestHalfARequest(t *testing.T) {
	l := leasable(t, 4)
	first, second := request{7, 1, 2, in(10 * time.Second)}, request{7, 2, 3, in(20 * time.Second)}
	l.wants(t, first, 0, 2)
	l.write(second)
	var whole [5]uint64
	for i := range whole {
		whole[i] = l.want[i].Load()
	}
	for n := 0; n < 0b11110; n++ { // which words have come; the first is the same in both
		l.write(first)
		for i := range whole {
			if n>>uint(i)&1 == 1 {
				l.want[i].Store(whole[i])
			}
		}
		l.look()
		if l.seq.Load() != 1 || runtime.GOMAXPROCS(0) != 2 {
			t.Fatalf("words %05b: answered %d, GOMAXPROCS %d", n, l.seq.Load(), runtime.GOMAXPROCS(0))
		}
	}
	l.wants(t, second, 0, 3)
}

// A request that is taken back before it is answered is not obeyed, and one that is taken back
// while it is obeyed ends the lease.
func TestTakenBack(t *testing.T) {
	l := leasable(t, 4)
	q := request{7, 1, 2, in(10 * time.Second)}
	l.write(q)
	l.mu.Lock()
	looked := make(chan bool)
	go func() { looked <- l.look() }()
	time.Sleep(50 * time.Millisecond) // it has read the request, and waits
	back := func() {
		for i := range l.want {
			l.want[i].Store(0)
		}
	}
	back()
	l.mu.Unlock()
	<-looked
	if n := runtime.GOMAXPROCS(0); n != 4 || l.seq.Load() != 0 || l.holder.Load() != 0 {
		t.Errorf("GOMAXPROCS %d after a request that was taken back; answered %d", n, l.seq.Load())
	}
	l.wants(t, request{8, 2, 3, in(10 * time.Second)}, 0, 3)
	back()
	l.mu.Lock()
	l.answer(request{8, 3, 2, in(10 * time.Second)}, nil)
	l.mu.Unlock()
	if n := runtime.GOMAXPROCS(0); n != 4 || l.holder.Load() != 0 || l.procs.Load() != 4 || reason(l.why.Load()) != released {
		t.Errorf("GOMAXPROCS %d (says %d) after a request that was taken back while it was obeyed: %d", n, l.procs.Load(), l.why.Load())
	}
	l.wants(t, request{9, 4, 2, in(10 * time.Second)}, 0, 2)
	back()
	if l.look(); runtime.GOMAXPROCS(0) != 2 {
		t.Error("a lease whose renewal was taken back has ended before its time")
	}
}

func TestLeaseRunsOut(t *testing.T) {
	l := leasable(t, 4)
	end := in(time.Second)
	l.wants(t, request{7, 1, 1, end}, 0, 1)
	end = in(1500 * time.Millisecond)
	l.wants(t, request{7, 2, 1, end}, 0, 1)
	for runtime.GOMAXPROCS(0) != 4 { // without a look
		if monotonic() > end+int64(20*time.Second) {
			t.Fatal("the value was not restored")
		}
		time.Sleep(time.Millisecond)
	}
	if monotonic() < end {
		t.Error("the value was restored before the end of the lease")
	}
	l.wants(t, request{7, 3, 1, in(time.Second)}, ranOut, 4)
	l.wants(t, request{8, 1, 1, in(time.Second)}, 0, 1)
}

// Something else that sets GOMAXPROCS wins; package maxprocs does not, under a lease.
func TestOthers(t *testing.T) {
	l := leasable(t, 4)
	l.wants(t, request{7, 1, 1, in(10 * time.Second)}, 0, 1)
	var r maxprocs.Result
	undo, _ := maxprocs.Set(maxprocs.Min(3), maxprocs.Max(3), maxprocs.Detail(&r))
	undo()
	if runtime.GOMAXPROCS(0) != 1 || r.Action != maxprocs.Leased && r.Action != maxprocs.Kept {
		t.Errorf("Set under a lease: GOMAXPROCS %d, %s", runtime.GOMAXPROCS(0), r)
	}
	runtime.GOMAXPROCS(3)
	l.look()
	if n := runtime.GOMAXPROCS(0); n != 3 || reason(l.why.Load()) != setByOther || l.holder.Load() != 0 {
		t.Errorf("GOMAXPROCS is %d, the lease of %d ended for %d", n, l.holder.Load(), l.why.Load())
	}
	l.wants(t, request{7, 2, 1, in(10 * time.Second)}, setByOther, 3)
	l.wants(t, request{8, 1, 2, in(10 * time.Second)}, 0, 2)
	runtime.GOMAXPROCS(1)
	l.end()
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("GOMAXPROCS is %d, want 1, which the other has set", n)
	}
}

// A lease that begins in the look that ends another one restores what ended that.
func TestLeaseAfterOthers(t *testing.T) {
	l := leasable(t, 4)
	l.wants(t, request{7, 1, 1, in(10 * time.Second)}, 0, 1)
	runtime.GOMAXPROCS(3)
	l.wants(t, request{8, 1, 2, in(10 * time.Second)}, 0, 2)
	l.wants(t, request{8, 2, 0, 0}, released, 3)
}

func TestRefuse(t *testing.T) {
	var no error
	l := leasable(t, 4, Refuse(func() error { return no }))
	no = errors.New("draining")
	l.wants(t, request{7, 1, 2, in(10 * time.Second)}, refused, 4)
	no = nil
	l.wants(t, request{7, 2, 2, in(10 * time.Second)}, 0, 2)
	no = errors.New(strings.Repeat("a long story ", 20))
	l.wants(t, request{7, 3, 3, in(10 * time.Second)}, refused, 4)
	if l.refusal[0].Load() != 0x7320676e6f6c2061 { // "a long s"
		t.Errorf("the reason begins with %x", l.refusal[0].Load())
	}
	p := leasable(t, 4, Refuse(func() error { panic("no") }))
	p.wants(t, request{7, 1, 2, in(10 * time.Second)}, refused, 4)
}

// A program that does not answer whether it refuses does not keep the lease from ending,
// and one that is asked may end it.
func TestRefuseTakesLong(t *testing.T) {
	answer, waits := make(chan struct{}), false
	l := leasable(t, 4, Refuse(func() error {
		if waits {
			<-answer
		}
		return nil
	}))
	l.wants(t, request{7, 1, 1, in(time.Second)}, 0, 1)
	waits = true
	l.write(request{7, 2, 2, in(10 * time.Second)})
	answered := make(chan struct{})
	go func() {
		l.look()
		close(answered)
	}()
	must.Until(t, "restored while the program is asked", func() bool { return runtime.GOMAXPROCS(0) == 4 })
	close(answer)
	<-answered
	if n := runtime.GOMAXPROCS(0); n != 4 || reason(l.why.Load()) != ranOut {
		t.Errorf("GOMAXPROCS %d after the answer, %d", n, l.why.Load())
	}
	var ends *lessee
	ends = leasable(t, 4, Refuse(func() error {
		ends.end()
		return nil
	}))
	ends.write(request{7, 1, 2, in(10 * time.Second)})
	if ends.look() || runtime.GOMAXPROCS(0) != 4 {
		t.Errorf("GOMAXPROCS %d after the end", runtime.GOMAXPROCS(0))
	}
}

// A limit that changes during a lease: afterwards the runtime's default is in effect again,
// as it would be without the lease, and not the value from the old limit. A GOMAXPROCS in
// the environment that the runtime ignores makes no difference.
func TestDefaultAfterLease(t *testing.T) {
	if !gort.HasDefault {
		t.Skip("before Go 1.25 the runtime decides only once")
	}
	l := leasable(t, 1, Max(1024))
	t.Setenv("GOMAXPROCS", "none")
	gort.SetDefault()
	def := runtime.GOMAXPROCS(0)
	if expected := facts.Decide(facts.Read(), facts.Go{}).Procs; def != expected {
		t.Skipf("the runtime's default is %d, where %d is expected", def, expected)
	}
	l.look()
	l.wants(t, request{7, 1, uint64(def + 1), in(10 * time.Second)}, 0, def+1)
	if !l.auto {
		t.Error("the value at the start is not taken to be the runtime's default")
	}
	l.before.Store(uint64(def + 2)) // as if it had been the default under the old limit
	l.wants(t, request{7, 2, 0, 0}, released, def)
}

// The program looks by itself, and procfit reads the Meter that Allow was given; without
// Allow the first Meter that is used.
func TestAllow(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	shared.counters.Store(&nobody)
	var first, second Meter
	first.Begin().End(nil)
	second.Middleware(nil)
	if shared.counters.Load() != &first.counters {
		t.Error("the Meter that was used first is not read")
	}
	end := Allow(&second, nil, Max(5))
	defer end()
	Allow(&first, Max(9))() // changes nothing
	if shared.counters.Load() != &second.counters {
		t.Error("the Meter of Allow is not read")
	}
	shared.write(request{7, 1, 5, in(20 * time.Second)})
	must.Until(t, "answered", func() bool { return shared.seq.Load() == 1 })
	if n := runtime.GOMAXPROCS(0); n != 5 {
		t.Errorf("GOMAXPROCS is %d after %d", n, shared.why.Load())
	}
	must.Until(t, "read", func() bool { return second.Read().Ready.Count() > 3 })
	end()
	if n := runtime.GOMAXPROCS(0); n != 4 {
		t.Errorf("GOMAXPROCS is %d after the end", n)
	}
	end = Allow(nil)
	shared.write(request{8, 2, 5, in(20 * time.Second)})
	must.Until(t, "answered", func() bool { return shared.seq.Load() == 2 })
	if n := runtime.GOMAXPROCS(0); n != 4 || reason(shared.why.Load()) != outOfRange {
		t.Errorf("GOMAXPROCS is %d after %d", n, shared.why.Load())
	}
	end()
}

// Without a Meter of its own Allow leaves procfit that which is used, before Allow or after it.
func TestAllowWithoutAMeter(t *testing.T) {
	for _, before := range []bool{true, false} {
		shared.counters.Store(&nobody)
		var used, other Meter
		if before {
			used.Begin()
		}
		end := Allow(nil)
		if !before {
			used.Begin()
		}
		other.Begin()
		if shared.counters.Load() != &used.counters {
			t.Errorf("the Meter that is used is not read; it was used before Allow: %v", before)
		}
		end()
	}
}

// Of many calls at the same time one allows leases; the others write no leased value as that of
// before, which a lease restores.
func TestAllowAtTheSameTime(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	defer shared.write(request{})
	for i := uint64(1); i <= 300; i++ {
		shared.write(request{1000 + i, i, 1, in(20 * time.Second)})
		start, ends := make(chan struct{}), make(chan func())
		const calls = 64
		for range [calls]struct{}{} {
			go func() {
				<-start
				ends <- Allow(nil)
			}()
		}
		close(start)
		var all []func()
		for range [calls]struct{}{} {
			all = append(all, <-ends)
		}
		must.Until(t, "answered", func() bool { return shared.seq.Load() == i })
		for _, end := range all {
			end()
		}
		if n := runtime.GOMAXPROCS(0); n != 4 {
			t.Fatalf("call %d: GOMAXPROCS is %d after the end, want 4", i, n)
		}
	}
}

// FuzzRequest: whatever is written, GOMAXPROCS stays between its bounds, and half a request
// changes nothing.
func FuzzRequest(f *testing.F) {
	f.Add(uint64(7), uint64(1), uint64(2), int64(time.Second), uint64(0))
	f.Add(uint64(7), uint64(1), uint64(1<<63), int64(math.MaxInt64), uint64(1))
	f.Fuzz(func(t *testing.T, lease, seq, procs uint64, in int64, flip uint64) {
		l := leasable(t, 4, Max(5))
		l.write(request{lease, seq, procs, monotonic() + in})
		l.want[4].Store(l.want[4].Load() ^ flip)
		l.look()
		if n := runtime.GOMAXPROCS(0); n < 1 || n > 5 || flip != 0 && n != 4 {
			t.Errorf("GOMAXPROCS %d", n)
		}
	})
}

// A hundred switches while requests are answered: with -race this is the proof that
// neither disturbs the other.
func TestSwitchesUnderLoad(t *testing.T) {
	l := leasable(t, 4)
	m, s := server(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") }, nil)
	var clients sync.WaitGroup
	const each = 500
	for range [4]struct{}{} {
		clients.Add(1)
		go func() {
			defer clients.Done()
			for range [each]struct{}{} {
				r, err := s.Client().Get(s.URL)
				if err != nil {
					t.Error(err)
					return
				}
				io.Copy(io.Discard, r.Body)
				r.Body.Close()
			}
		}()
	}
	for i := range [100]struct{}{} {
		procs := 1 + i%4
		l.wants(t, request{7, uint64(1 + i), uint64(procs), in(20 * time.Second)}, 0, procs)
	}
	clients.Wait()
	l.end()
	s.Client().CloseIdleConnections()
	f := settled(t, m, 4*each, arrivals(4*each))
	if f.Failed != 0 || runtime.GOMAXPROCS(0) != 4 {
		t.Errorf("%d failed, GOMAXPROCS %d", f.Failed, runtime.GOMAXPROCS(0))
	}
}
