package watch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// tmuxPane is a tmux of its own with a shell in it.
type tmuxPane struct {
	t      *testing.T
	socket string
	dir    string
}

func newTerminal(t *testing.T, width, height int) *tmuxPane {
	t.Helper()
	need.Command(t, "tmux")
	dir := must.Get(os.MkdirTemp("", "tmux"))(t) // a socket's path must be short
	term := &tmuxPane{t: t, socket: dir + "/socket", dir: t.TempDir()}
	// A prompt of its own shows when the shell is back. tmux starts separate words itself,
	// but gives one string to the user's shell, whatever that is.
	term.tmux("-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height),
		"env", "-u", "TUI_ROLE", "PS1=ready> ", "LC_ALL=C.UTF-8", "sh")
	t.Cleanup(func() {
		exec.Command("tmux", "-S", term.socket, "kill-server").Run()
		os.RemoveAll(dir)
	})
	term.wants("ready>")
	return term
}

func (c *tmuxPane) tmux(args ...string) string {
	c.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-u", "-S", c.socket}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TMUX=")
	return strings.TrimRight(must.Output(c.t, cmd), "\n")
}

func (c *tmuxPane) press(keys ...string) *tmuxPane {
	c.t.Helper()
	c.tmux(append([]string{"send-keys", "--"}, keys...)...)
	return c
}

func (c *tmuxPane) screen() string { c.t.Helper(); return c.tmux("capture-pane", "-p") }

// until waits for the condition.
func (c *tmuxPane) until(what string, holds func() bool) {
	c.t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("waited for %s in vain; the screen is\n%s", what, c.screen())
		}
	}
}

// wants waits until all the words are on the screen.
func (c *tmuxPane) wants(words ...string) *tmuxPane {
	c.t.Helper()
	for _, w := range words {
		c.until(strconv.Quote(w), func() bool { return strings.Contains(c.screen(), w) })
	}
	return c
}

// state is what the screen's user notices of it: the alternate screen, the cursor,
// keys and mouse.
func (c *tmuxPane) state() string {
	c.t.Helper()
	return c.tmux("display-message", "-p", "alternate #{alternate_on} cursor #{cursor_flag} keypad #{keypad_cursor_flag}#{keypad_flag} "+
		"mouse #{mouse_any_flag} wrap #{wrap_flag} insert #{insert_flag} region #{scroll_region_upper}-#{scroll_region_lower}")
}

const shellState = "alternate 0 cursor 1 keypad 00 mouse 0 wrap 1 insert 0 region 0-23"

// start runs the view in a role. What the shell's terminal is set to is kept in a
// file before and after.
func (c *tmuxPane) start(role string, env ...string) {
	c.t.Helper()
	exe := must.Get(os.Executable())(c.t)
	script := filepath.Join(c.dir, "run")
	text := fmt.Sprintf("stty -g >%[1]s/before\nTUI_ROLE='%[2]s' %[3]s %[4]s %[1]s 2>&1\necho ended with $?.\nstty -g >%[1]s/after\n", c.dir, role, strings.Join(env, " "), exe)
	must.Write(c.t, script, text)
	c.press(". "+script, "Enter")
}

// back waits until the shell is back and checks that all is as before.
func (c *tmuxPane) back(words ...string) {
	c.t.Helper()
	c.wants(words...)
	c.until("the settings of the terminal", func() bool {
		after, err := os.ReadFile(c.dir + "/after")
		return err == nil && len(after) > 0
	})
	before, _ := os.ReadFile(c.dir + "/before")
	if after, _ := os.ReadFile(c.dir + "/after"); string(after) != string(before) {
		c.t.Errorf("the terminal is set to %s, was %s", after, before)
	}
	if got := c.state(); got != shellState {
		c.t.Errorf("the terminal is left with %s", got)
	}
	// What was on the screen before is there again, and keys are echoed.
	c.until("the shell's next prompt", func() bool { return strings.HasSuffix(strings.TrimSpace(c.screen()), "ready>") })
	c.press("typed").wants("ready> typed")
	must.Say(c.t, c.tmux("capture-pane", "-p", "-S", "-"), ". "+c.dir)
	if strings.Contains(c.screen(), "FINDINGS") {
		c.t.Errorf("the view is left on the screen:\n%s", c.screen())
	}
}

// pid is the view's own PID, as the view wrote it: a child of the pane's first process
// can be a shell.
func (c *tmuxPane) pid() int {
	c.t.Helper()
	pid := 0
	c.until("the process of the view", func() bool {
		text, _ := os.ReadFile(filepath.Join(c.dir, "pid"))
		pid, _ = strconv.Atoi(string(text))
		return pid > 0
	})
	return pid
}

// TestTerminal uses the view as a person does.
func TestTerminal(t *testing.T) {
	t.Parallel()
	c := newTerminal(t, 80, 24)
	c.start("watch")
	c.wants("▸ 1313 fraud-scorer      3 ok ", "E PF003", "日本語サーバ… ", "q  quit")
	if got := c.state(); !strings.HasPrefix(got, "alternate 1 cursor 0 ") {
		t.Error(got)
	}
	c.press("Down").wants("▸ 4242 payments-api", "→ now: procfit set 4242 2; then remove GOMAXPROCS=8 from its")
	c.press("Enter").wants(" 4242  payments-api", "HISTORY", "threads waiting", "█", "WHY", "more ▼")
	c.press("End").wants("the end")
	c.press("Escape").wants("FINDINGS▲", "▸ 4242 payments-api")
	c.press("/", "4", "2", "4", "2").wants("/4242", "Esc undo")
	c.until("the cursor in the filter", func() bool { return strings.Contains(c.state(), "cursor 1") })
	c.press("Enter").wants("/4242 shows 1")
	c.press("Escape").wants("fraud-scorer")
	c.press("?").wants("KEYS", "COLUMNS").press("?").wants("FINDINGS▲")
	c.press("s").wants("PID▲").press("S").wants("PID▼", "▸ 4242 payments-api")
	c.press("p").wants("PAUSED").press("p")
	c.press("+").wants("every 200 ms")

	c.tmux("resize-window", "-x", "160", "-y", "40")
	c.wants("SCHED P99  WAITING  THROTTLED")
	c.tmux("resize-window", "-x", "20", "-y", "5")
	c.wants("PID▼ NAME")
	c.tmux("resize-window", "-x", "12", "-y", "3")
	c.wants("too small")
	c.tmux("resize-window", "-x", "80", "-y", "24")
	c.wants("THROTTLED FINDINGS")

	c.press("C-z").wants("ready>")
	c.until("the shell's screen", func() bool { return c.state() == shellState })
	c.press("fg", "Enter").wants("THROTTLED FINDINGS")
	c.press("q")
	c.wants("Run returned <nil>.")
	c.press("C-l").wants("ready>")
	if got := c.state(); got != shellState {
		t.Error(got)
	}
}

// TestEnds: however it ends, the screen is the shell's again.
func TestEnds(t *testing.T) {
	signal := func(s syscall.Signal) func(*tmuxPane) {
		return func(c *tmuxPane) { must.OK(c.t, syscall.Kill(c.pid(), s)) }
	}
	press := func(keys ...string) func(*tmuxPane) { return func(c *tmuxPane) { c.press(keys...) } }
	for _, tc := range []struct {
		name, role string
		end        func(*tmuxPane)
		want       []string
	}{
		{"quit", "watch", press("q"), []string{"Run returned <nil>.", "ended with 0."}},
		{"ctrl-c", "watch", press("C-c"), []string{"Run returned <nil>.", "ended with 0."}},
		{"typing", "watch", press("/", "x", "C-c"), []string{"Run returned <nil>.", "ended with 0."}},
		{"slow scan", "slow", press("Enter", "q"), []string{"Run returned <nil>.", "ended with 0."}},
		{"failing scan", "failing", func(c *tmuxPane) { c.wants(`scan failed: open /proc: too many open files\x1b[2J`).press("q") }, []string{"Run returned <nil>.", "ended with 0."}},
		{"term", "watch", signal(syscall.SIGTERM), []string{"Run returned context canceled.", "ended with 3."}},
		{"hup", "watch", signal(syscall.SIGHUP), []string{"Run returned context canceled.", "ended with 3."}},
		{"int", "watch", signal(syscall.SIGINT), []string{"Run returned context canceled.", "ended with 3."}},
		{"quit signal", "watch", signal(syscall.SIGQUIT), []string{"Run returned context canceled.", "ended with 3."}},
		{"cancel", "cancel", nil, []string{"Run returned context canceled.", "ended with 3."}},
		{"panic in scan", "panic in scan", nil, []string{"ended with 3."}},
		{"panic in update", "panic in update", nil, []string{"ended with 3."}},
		{"panic in view", "panic in view", nil, []string{"ended with 3."}},
	} {
		t.Run(strings.ReplaceAll(tc.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			c := newTerminal(t, 80, 24)
			c.start(tc.role)
			if tc.end != nil {
				c.wants("fraud-scorer")
				tc.end(c)
			}
			c.back(tc.want...)
			if strings.HasPrefix(tc.role, "panic") {
				must.Say(t, c.tmux("capture-pane", "-p", "-S", "-"), "Run returned a mistake in procfit: ", "goroutine ")
			}
		})
	}
}

// TestLost: a view whose terminal is closed ends too.
func TestLost(t *testing.T) {
	t.Parallel()
	c := newTerminal(t, 80, 24)
	c.start("watch")
	c.wants("fraud-scorer")
	pid := c.pid()
	c.tmux("kill-server")
	for end := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it goes on without a terminal")
		}
	}
}

// TestNoColorTerminal draws no colour where none is wanted, and colours elsewhere.
func TestNoColorTerminal(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		env   string
		color bool
	}{{"NO_COLOR=1", false}, {"X=1", true}} {
		t.Run(tc.env, func(t *testing.T) {
			c := newTerminal(t, 80, 24)
			c.start("watch", tc.env)
			c.wants("E PF003")
			got := c.tmux("capture-pane", "-p", "-e")
			if color := regexp.MustCompile("\x1b\\[([0-9]+;)*[349][0-7]m").MatchString(got); color != tc.color {
				t.Errorf("colours are %v:\n%q", color, got)
			}
			c.press("q").wants("ended with 0.")
		})
	}
}

// TestMachine shows this machine; the view is a Go process too.
func TestMachine(t *testing.T) {
	t.Parallel()
	c := newTerminal(t, 130, 30)
	c.start("this machine")
	c.wants("Go process", "FINDINGS▲")
	pid := strconv.Itoa(c.pid())
	c.press("/", pid, "Enter").wants("/"+pid+" shows 1", "▸", " watch.test ")
	c.press("Enter").wants(" "+pid+"  watch.test", "read from memory (", "max", "threads waiting")
	c.until("three curves", func() bool { return strings.Count(c.screen(), "▁")+strings.Count(c.screen(), "█") > 2 })
	c.press("q").wants("Run returned <nil>.")
}

// TestDumb: a terminal that cannot do it gets a message.
func TestDumb(t *testing.T) {
	t.Parallel()
	c := newTerminal(t, 80, 24)
	c.start("watch", "TERM=dumb")
	c.wants(`TERM="dumb" is a terminal without a cursor to move`, "ended with 3.")
}
