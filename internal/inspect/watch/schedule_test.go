package watch

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/procfit/procfit/internal/program/observe"
)

// TestSchedule: one scan at a time, none while paused, and on after a failure.
func TestSchedule(t *testing.T) {
	b := newBench(t, 80, 24)
	first := b.Init()
	if first == nil || b.scan() != nil || b.update(tickMsg(b.timer)) != nil {
		t.Fatal("two scans at once")
	}
	b.answer(first)
	if b.world.scans != 1 {
		t.Fatalf("%d scans", b.world.scans)
	}
	if b.update(tickMsg(b.timer-1)) != nil {
		t.Error("a timer that was replaced scans")
	}
	b.update(tea.KeyPressMsg{Code: 'p', Text: "p"})
	b.wants("PAUSED")
	if b.update(tickMsg(b.timer)) != nil {
		t.Error("it scans while paused")
	}
	b.press("r")
	if b.world.scans != 2 {
		t.Error("r does not scan while paused")
	}
	b.press("space").lacks("PAUSED")
	if b.world.scans != 3 {
		t.Error("no scan after the pause")
	}

	b.fails = errScan
	b.scans(1).wants("the scan failed: open /proc: too many open files\\x1b[2J", "payments-api")
	b.fails = nil
	b.scans(1).lacks("failed")

	for _, step := range []struct{ key, want string }{{"+", "every 2 s"}, {"+", "every 5 s"}, {"-", "every 2 s"}, {"-", "every 1 s"}, {"_", "every 500 ms"}, {"=", "every 1 s"}} {
		b.press(step.key).wants(step.want)
	}
	for range 20 {
		b.press("-")
	}
	b.wants("every 100 ms")
	for range 20 {
		b.press("+")
	}
	b.wants("every 60 s")
	b.interval = 1500 * time.Millisecond
	b.press("+").wants("every 2 s")

	// A scan that takes longer than the interval leaves the machine in peace for as
	// long again.
	b.interval = time.Second
	cmd := b.scan()
	b.clock = b.clock.Add(3 * time.Second)
	b.answer(cmd)
	b.wants("a scan takes 3.00 s")
	if b.waits != 3*time.Second {
		t.Errorf("it waits %v", b.waits)
	}
	cmd = b.scan()
	b.clock = b.clock.Add(300 * time.Millisecond)
	b.answer(cmd)
	if b.waits != 700*time.Millisecond {
		t.Errorf("it waits %v", b.waits)
	}
	if b.press("+"); b.waits != 1700*time.Millisecond {
		t.Errorf("it waits %v", b.waits)
	}
}

func TestQuit(t *testing.T) {
	for _, key := range []tea.Key{{Code: 'q', Text: "q"}, {Code: 'c', Mod: tea.ModCtrl}} {
		b := newBench(t, 80, 24).scans(1)
		for _, page := range []string{"enter", "?"} {
			cmd := b.press(page).update(tea.KeyPressMsg(key))
			if cmd == nil {
				t.Fatalf("%v does nothing", key)
			}
			if _, ok := cmd().(tea.QuitMsg); !ok {
				t.Errorf("%v does not quit", key)
			}
		}
	}
}

// FuzzView draws whatever name in whatever terminal.
func FuzzView(f *testing.F) {
	for i, name := range hostile {
		f.Add(name, uint8(20+i*9), uint8(5+i*3), uint64(i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, name string, width, height uint8, seed uint64, ascii bool) {
		b := newBench(t, int(width), int(height), func(o *Options) { o.Explain = func(observe.Process) string { return name } })
		b.look.ascii = ascii
		b.list.look = b.look
		scan := b.options.Scan
		b.options.Scan = func(ctx context.Context) (observe.Snapshot, error) {
			snap, err := scan(ctx)
			for i := range snap.Processes {
				p := &snap.Processes[i]
				p.Name = name + p.Name
				p.Facts.GoVersion += name
				for j := range p.Findings {
					p.Findings[j].Message, p.Findings[j].Fix = name+name, name
				}
			}
			snap.Unreadable[0].Cause, snap.Unreadable[0].Detail = observe.Other, name
			return snap, err
		}
		b.world.procs = 5
		b.scans(2).sound()
		random := rand.New(rand.NewPCG(seed, 0))
		keys := []string{"down", "up", "enter", "esc", "?", "s", "S", "<", "p", "/", "a", "end", "pgdown", "home", "backspace"}
		for range 8 {
			b.press(keys[random.IntN(len(keys))]).sound()
		}
	})
}
