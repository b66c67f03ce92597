package watch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
)

func TestTable(t *testing.T) {
	b := newBench(t, 80, 24).wants("reading all processes").scans(25)
	b.wants(
		"procfit · 64 CPUs · every 1 s · counters: taskstats",
		"36 Go processes of 259, 33 with findings: 1 error 2 warnings 30 infos",
		"1 inferred · 12 not readable (press ?)",
		"   PID NAME          PROCS RECOMMENDED    CPU USE SET BY THROTTLED FINDINGS▲",
		"▸ 1313 fraud-scorer      3 ok                1.93 auto         20% E PF003",
		" 20991 gateway         *64 → 4, limit 4      1.93 auto         10% W PF0",
		"  4242 payments-api      8 → 2, limit 2      1.93 env  ",
		"E PF003", "W PF011 thro",
		"fraud-scorer PF003 GOMAXPROCS=\"2.5\" is not a positive", "→ remove it: the runtime chooses 3 by itself", "1 more: Enter",
		" q  quit  ?  help",
	)
	newBench(t, 80, 80).scans(25).press("?").wants("NOT READABLE", "12 processes: needs root or CAP_SYS_PTRACE")
	newBench(t, 200, 50).scans(2).wants("  PROCS  RECOMMENDED ", "CPU USE  SET BY  NUMCPU  LIMIT  SCHED P50  SCHED P99  WAITING  THROTTLED  THREADS  FINDINGS", " ?64 ", "+-  interval")
	newBench(t, 36, 12).scans(2).wants("PID NAME", "FINDINGS", "E PF003").lacks("WAITING")
	newBench(t, 20, 5).scans(2).wants("1313 fraud-scor", "q  quit")
	newBench(t, 19, 5).scans(2).wants("too small")
	newBench(t, 80, 4).scans(2).wants("too small")
	newBench(t, 3, 1).scans(2).wants("to…")
	newBench(t, 0, 0).scans(2)

	empty := newBench(t, 80, 24, func(o *Options) {
		o.Scan = func(context.Context) (observe.Snapshot, error) { return observe.Snapshot{Others: 3}, nil }
	}).scans(1)
	empty.wants("0 Go processes of 3", "no Go process").press("enter", "down", "s", "S").wants("no Go process")
}

// TestColumnsIn: columns go by rank, down to the least.
func TestColumnsIn(t *testing.T) {
	widths := slices.Repeat([]int{10}, len(columns))
	for _, c := range []struct {
		width, least int
		shown        int
		fits         bool
	}{{10 * len(widths), 0, len(widths), true}, {50, 0, 5, true}, {40, 3, 5, false}, {20, 0, 2, true}, {19, 0, 2, false}} {
		shown, fits := columnsIn(widths, c.width, len(widths), c.least)
		if len(shown) != c.shown || fits != c.fits {
			t.Errorf("in %d down to %d: %v, %v", c.width, c.least, shown, fits)
		}
	}
}

func TestNoColor(t *testing.T) {
	b := newBench(t, 80, 24, func(o *Options) { o.Color = false }).scans(3)
	for _, page := range []string{"", "enter", "?"} {
		if page != "" {
			b.press(page)
		}
		if colors := regexp.MustCompile("\x1b\\[([0-9]+;)*[349][0-7]m"); colors.MatchString(b.View().Content) {
			t.Errorf("a colour in %q", b.View().Content)
		}
	}
	b.press("esc", "esc").wants("E PF003", "W PF011")
}

func TestASCII(t *testing.T) {
	for locale, want := range map[string]bool{"": false, "C": true, "de_DE.UTF-8": false, "C.utf8": false, "ja_JP.eucJP": true} {
		if l := lookOf(true, func(name string) string { return map[string]string{"LANG": locale}[name] }); l.ascii != want {
			t.Errorf("%q: ASCII is %v", locale, l.ascii)
		}
	}
	b := newBench(t, 80, 24)
	b.look.ascii, b.list.look.ascii = true, true
	b.options.Explain = func(observe.Process) string { return "nothing to tell" }
	b.scans(30)
	for _, page := range []string{"esc", "?", "esc", "enter"} {
		if text := b.press(page).text(); strings.IndexFunc(text, func(r rune) bool { return r > '~' }) >= 0 {
			t.Errorf("more than ASCII in\n%s", text)
		}
	}
}

// TestScreens draws all pages in all sorts of terminals.
func TestScreens(t *testing.T) {
	for _, width := range []int{1, 7, 19, 20, 21, 33, 40, 59, 79, 80, 81, 100, 133, 240} {
		for _, height := range []int{1, 4, 5, 6, 9, 10, 16, 19, 20, 24, 37, 61} {
			b := newBench(t, 80, 24, func(o *Options) { o.Color = width%2 == 0 })
			b.look.ascii = height%2 == 0
			b.list.look = b.look
			b.sound()
			b.scans(2)
			b.update(tea.WindowSizeMsg{Width: width, Height: height})
			b.sound()
			for _, key := range []string{"down", "end", "enter", "end", "?", "end", "esc", "esc", "s", "<", "p", "/", "z", "0", "esc"} {
				b.press(key).sound()
			}
			b.fails = errScan
			b.scans(1).sound()
		}
	}
}

func TestHostileNames(t *testing.T) {
	b := newBench(t, 100, 70).scans(2)
	b.press("/", "6", "0", "0", "enter").wants(
		`\x1b[31mred\x1b[2J`, "new line tab", "日本語サーバー", `\u05e9\u05e8\u05ea`, `\u202egnp.exe`, "e\u0301te\u0301", `\xff\xfe\x80`, `\x9b31m\u0085`, `""`, `" "`)
	for i := range hostile { // and in their own pages
		b.press("home")
		for range i {
			b.press("down")
		}
		b.press("enter").sound()
		b.press("end").sound()
		b.press("esc")
	}
}

func TestSelection(t *testing.T) {
	b := newBench(t, 80, 24).scans(1).press("down")
	id, _ := b.list.selected()
	if id.PID != 4242 {
		t.Fatalf("%v is selected", id)
	}
	for _, s := range []string{"s", "s", "S", ">", "<"} {
		b.press(s).scans(1)
		if now, _ := b.list.selected(); now != id {
			t.Errorf("sorted by %s, %v is selected", columns[b.list.sort].Name, now)
		}
		b.wants("▸")
	}
	// Another process with the same number is another.
	b.world.procs = 0
	b.options.Scan = func(context.Context) (observe.Snapshot, error) {
		snap := b.world.scan()
		for i := range snap.Processes {
			if snap.Processes[i].PID == 4242 {
				snap.Processes[i].Started++
			}
		}
		return snap, nil
	}
	b.scans(1)
	if now, _ := b.list.selected(); now != id {
		t.Errorf("%v is selected", now)
	}
	b.scans(lingers + 1)
	if now, _ := b.list.selected(); now == id {
		t.Error("a process that is gone is selected")
	}
	b.press("end", "down", "pgdown", "home", "up", "pgup", "k", "j", "G", "g")
	if b.list.cursor != 0 {
		t.Errorf("home is row %d", b.list.cursor)
	}
}

// TestOnScreen: wherever the selection goes, it is seen.
func TestOnScreen(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	b := newBench(t, 80, 24, func(o *Options) { o.Sort = "pid" }).scans(2)
	keys := []string{"down", "up", "pgdown", "pgup", "home", "end", "s", "S", "down", "up"}
	for range 2_000 {
		key := keys[random.IntN(len(keys))]
		b.press(key)
		if random.IntN(50) == 0 {
			b.update(tea.WindowSizeMsg{Width: 80, Height: 5 + random.IntN(60)})
		}
		id, _ := b.list.selected()
		if !regexp.MustCompile(fmt.Sprintf("(?m)^▸ *%d ", id.PID)).MatchString(b.text()) {
			t.Fatalf("after %s %d is not on the screen:\n%s", key, id.PID, b.text())
		}
	}
}

func TestEnded(t *testing.T) {
	b := newBench(t, 120, 60).scans(20).wants(" migrate ").lacks("ended")
	b.scans(1).wants("migrate").wants("ended")
	b.scans(lingers - 1).wants("ended")
	b.scans(1).lacks("migrate")

	// In its page it stays.
	b = newBench(t, 80, 24).scans(19).press("/", "m", "i", "g", "r", "enter", "enter").wants("WHY")
	b.scans(lingers+10).wants(" 777  migrate", "ENDED").press("esc").scans(1).lacks("migrate  ")
}

func TestSort(t *testing.T) {
	b := newBench(t, 250, 60).scans(3)
	for range columns {
		b.press("s")
		c := columns[b.list.sort]
		for _, reverse := range []bool{false, true} {
			unknown := false
			for i, r := range b.list.shown {
				if i > 0 && c.Compare(&b.list.shown[i-1].process, &r.process, reverse) > 0 {
					t.Errorf("%s: %s is before %s", c.Name, b.list.shown[i-1].cells, r.cells)
				}
				known := c.Value(&r.process) != nil
				if known && unknown {
					t.Errorf("%s, reverse %v: what is not known is not last", c.Name, reverse)
				}
				unknown = !known
			}
			b.press("S")
		}
	}
	b = newBench(t, 80, 24, func(o *Options) { o.Sort = "pid" }).scans(2).press("S", "home", "/")
	b.update(tea.PasteMsg{Content: "!worker !longlong"})
	b.press("enter").wants("PID▼", "/!worker !longlong shows 22", "▸60015")
	if !slices.Contains(inspect.Names(), "sched_p99") || inspect.Names()[0] != "findings" {
		t.Error(inspect.Names())
	}
}

// TestRareColumn: Ps that page faults held have a column where there are any, or where
// the list is sorted by them.
func TestRareColumn(t *testing.T) {
	const heading = "FAULT HELD PS"
	newBench(t, 250, 60).scans(3).lacks(heading)
	newBench(t, 250, 60, func(o *Options) { o.Sort = "fault_held_ps" }).scans(3).wants(heading)
	newBench(t, 250, 60, func(o *Options) {
		all := o.Scan
		o.Scan = func(ctx context.Context) (observe.Snapshot, error) {
			snap, err := all(ctx)
			snap.Processes[0].Total.Held = &procstat.FaultUse{Duration: time.Second, Held: 4100 * time.Millisecond}
			return snap, err
		}
	}).scans(1).wants(heading, "4.10")
}

func TestFilter(t *testing.T) {
	b := newBench(t, 80, 24).scans(2)
	for typed, want := range map[string]string{
		"pay": "[4242]", "PAYMENTS": "[4242]", "4242": "[4242]", "1.24": "[20991]", "pf003": "[1313]", "pf011 api": "[4242]",
		"gateway !pf001": "[]", "procs=64 source=decoded": "[20991]", "set_by=env limit=2": "[4242]", "recommended=2.5": "[]", "no=column": "[]", "999999": "[]", "日本": "[60002]",
	} {
		b.press("/")
		for _, r := range typed {
			if r == ' ' {
				b.press("space")
			} else {
				b.press(string(r))
			}
		}
		var got []int
		for _, r := range b.list.shown {
			got = append(got, r.id.PID)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("/%s shows %v, want %v", typed, got, want)
		}
		b.wants("/"+typed, "Esc undo").press("enter").wants("/" + typed + " shows").press("esc").lacks(" shows")
	}
	// Keys are letters while one types, and Esc takes all back.
	b.press("/", "p", "a", "y", "enter", "/", "q", "s", "?").wants("/payqs?", "no process matches")
	b.press("backspace", "backspace", "backspace").wants("payments-api").press("ctrl+w").lacks("/pay").press("x", "ctrl+u", "down", "esc").wants("/pay shows 1")
	b.press("/")
	b.update(tea.PasteMsg{Content: "ment\n\x1b[2J" + strings.Repeat("x", 1000)})
	b.sound()
	b.update(tea.PasteMsg{Content: "ments"})
	b.wants("/payments")
	if c := b.View().Cursor; c == nil || c.Position.X != len("/payments") || c.Position.Y != 23 {
		t.Errorf("the cursor is at %v", c)
	}
}

func TestDetail(t *testing.T) {
	b := newBench(t, 80, 24).scans(40).press("/", "p", "a", "y", "enter", "enter")
	b.wants(" 4242  payments-api  PF011 warning",
		"8 read from memory (symbol) · set by env · recommended 2",
		"affinity 64 · NumCPU 64 · limit 2 of …burstable/pod1f2e/payments",
		"go1.26.1        9 threads · 1.93 CPUs in use · 4.24k switches/s · latency p50",
		"HISTORY         last 39 s", "now     min     max", "█",
		"GOMAXPROCS", "8       8       8", "90%", "threads waiting", "0.9", "incl. throttled", "0.63",
		"PF011 warning: throttled by", "PF001 warning: uses GOMAXPROCS=8", "→ remove GOMAXPROCS=8", "WHY", "more ▼")
	b.press("end").wants("the end").lacks("more ▼").press("down").wants("the end").press("home").wants("PF011 warning: throttled")
	b.press("pgdown", "j", "k", "pgup").wants("PF011 warning: throttled").press("?").wants("KEYS").press("?").wants("HISTORY")
	b.press("esc").wants("FINDINGS").lacks("HISTORY")

	b.press("esc", "/", "n", "o", "d", "e", "_", "enter", "enter").wants("64 inferred, not read", "no limit, or it cannot be read")
	b.press("left").wants("FINDINGS")

	young := newBench(t, 80, 24).scans(1).press("enter").wants("from the next scan on", "since it started")
	young.scans(1).lacks("from the next scan on")
	newBench(t, 80, 50).scans(700).press("enter").wants("last 9 min 59 s, 20 scans per cell")
}

// TestExplain asks for one explanation at a time and never shows another's.
func TestExplain(t *testing.T) {
	b := newBench(t, 80, 24).scans(1)
	first := b.update(tea.KeyPressMsg{Code: tea.KeyEnter})
	b.wants("reading…")
	b.update(tea.KeyPressMsg{Code: tea.KeyEscape})
	b.update(tea.KeyPressMsg{Code: tea.KeyDown})
	if cmd := b.update(tea.KeyPressMsg{Code: tea.KeyEnter}); cmd != nil {
		t.Error("two explanations at once")
	}
	b.answer(first)
	b.wants(" 4242  payments-api", "payments-api runs with something").lacks("fraud-scorer")
}
