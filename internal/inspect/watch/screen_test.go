package watch

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/test/must"
)

// bench is a model with a world to scan and no terminal.
type bench struct {
	*model
	t     testing.TB
	world *world
	fails error
	clock time.Time
	waits time.Duration // the last timer
}

func newBench(t testing.TB, width, height int, change ...func(*Options)) *bench {
	t.Helper()
	b := &bench{t: t, world: &world{procs: 30}, clock: time.Unix(1_700_000_000, 0)}
	o := Options{Interval: time.Second, Explain: explained, Color: true, Sort: inspect.Findings}
	o.Scan = func(context.Context) (observe.Snapshot, error) {
		if b.fails != nil {
			return observe.Snapshot{}, b.fails
		}
		return b.world.scan(), nil
	}
	for _, c := range change {
		c(&o)
	}
	m := newModel(o, look{color: o.Color}, &work{ctx: context.Background()})
	b.model, m.now = m, func() time.Time { return b.clock }
	m.began = b.clock
	m.after = func(d time.Duration, _ func(time.Time) tea.Msg) tea.Cmd { b.waits = d; return nil }
	m.update(tea.WindowSizeMsg{Width: width, Height: height})
	return b
}

// scans lets so many scans pass, and what is explained between them.
func (b *bench) scans(n int) *bench {
	b.t.Helper()
	for range n {
		b.answer(b.model.scan())
		b.clock = b.clock.Add(time.Second)
	}
	return b
}

// answer runs a command and what comes of it.
func (b *bench) answer(cmd tea.Cmd) {
	b.t.Helper()
	if cmd == nil {
		return
	}
	msg := cmd()
	if batch, ok := msg.(tea.BatchMsg); ok {
		for _, cmd := range batch {
			b.answer(cmd)
		}
		return
	}
	b.answer(b.update(msg))
}

// press presses keys by name.
func (b *bench) press(names ...string) *bench {
	b.t.Helper()
	codes := map[string]tea.Key{
		"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
		"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
		"backspace": {Code: tea.KeyBackspace}, "space": {Code: ' ', Text: " "}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
		"ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
	}
	for _, name := range names {
		key, ok := codes[name]
		if !ok {
			key = tea.Key{Code: []rune(name)[0], Text: name}
		}
		if got := tea.KeyPressMsg(key).String(); got != name {
			b.t.Fatalf("the key of %q is %q", name, got)
		}
		b.answer(b.update(tea.KeyPressMsg(key)))
	}
	return b
}

func (b *bench) screen() []string {
	b.t.Helper()
	return strings.Split(b.View().Content, "\n")
}

// text is the screen without styles.
func (b *bench) text() string { return ansi.Strip(strings.Join(b.screen(), "\n")) }

func (b *bench) wants(words ...string) *bench {
	b.t.Helper()
	must.Say(b.t, b.text(), words...)
	return b
}

func (b *bench) lacks(words ...string) *bench {
	b.t.Helper()
	for _, w := range words {
		if strings.Contains(b.text(), w) {
			b.t.Errorf("%q in\n%s", w, b.text())
		}
	}
	return b
}

// sound checks what holds of every screen.
func (b *bench) sound() {
	b.t.Helper()
	lines := b.screen()
	if len(lines) != max(1, b.height) && b.height > 0 {
		b.t.Fatalf("%d lines in a terminal of %d:\n%s", len(lines), b.height, b.text())
	}
	for _, line := range lines {
		if n := max(ansi.StringWidth(line), ansi.StringWidthWc(line)); n > b.width {
			b.t.Fatalf("%d columns in a terminal of %d: %q", n, b.width, line)
		}
		for rest := line; ; {
			i := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsPrint(r) })
			if i < 0 {
				break
			}
			end := strings.IndexByte(rest[i:], 'm')
			if !strings.HasPrefix(rest[i:], "\x1b[") || end < 0 || strings.Trim(rest[i+2:i+end], "0123456789;") != "" {
				b.t.Fatalf("more than a colour in %q", line)
			}
			rest = rest[i+end+1:]
		}
	}
}
