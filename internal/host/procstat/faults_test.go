package procstat

import (
	"testing"
	"time"
)

func TestInFault(t *testing.T) {
	for text, want := range map[string][2]bool{
		"-1 0x7ffcd4cd4ec8 0x7f77393c12ad\n":  {true, true},
		"202 0xc000100148 0x80 0x0 0x0\n":     {false, true}, // futex: an idle thread
		"0 0x3 0x7f7739246000 0x20000 0x7f\n": {false, true}, // read: its P is taken away
		"running\n":                           {false, false},
		"":                                    {false, false},
		"-1":                                  {false, false},
		"-10 0x1 0x2\n":                       {false, false},
	} {
		if fault, asleep := inFault([]byte(text)); fault != want[0] || asleep != want[1] {
			t.Errorf("%q: fault %v, asleep %v", text, fault, asleep)
		}
	}
}

// TestFaultShare: the kernel says how long a thread slept, the looks what for.
func TestFaultShare(t *testing.T) {
	const step = 10 * time.Millisecond
	at, busy := time.Unix(1e9, 0), time.Duration(0)
	f := faulting{}
	f.saw(threadTime{at, busy}, false, false)
	for i := range 100 { // of each 10 ms it is busy for 4, and each second sleep is a fault
		at, busy = at.Add(step), busy+4*time.Millisecond
		f.saw(threadTime{at, busy}, i%2 == 0, true)
	}
	if got := f.held(); got != 300*time.Millisecond {
		t.Errorf("held for %v of 600 ms of sleep", got)
	}
	f.pause()
	f.saw(threadTime{at.Add(time.Hour), busy}, false, false)
	if f.asleep() != 600*time.Millisecond {
		t.Errorf("slept %v, with an hour in which nobody looked", f.asleep())
	}
	if got := (&faulting{earlier: time.Second}).held(); got != 0 {
		t.Errorf("never found asleep: %v", got)
	}
}

func TestFaultUse(t *testing.T) {
	sum := sumFaults(map[Identity]FaultUse{{PID: 1}: {Duration: 2 * time.Second, Held: 3 * time.Second}, {PID: 2}: {Duration: time.Second, Held: time.Second}})
	if ps, known := sum.Ps(); ps != 2 || !known {
		t.Errorf("%v Ps, %v", ps, known)
	}
	sum.Hidden = 1
	if _, known := sum.Ps(); known {
		t.Error("known of threads that cannot be looked at")
	}
	if _, known := (FaultUse{}).Ps(); known {
		t.Error("known of no time")
	}
}

func TestNumberOf(t *testing.T) {
	if n, err := numberOf([]byte("pgfault 7\npgmajfault 984\npgrefill 0\n"), "pgmajfault "); n != 984 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
