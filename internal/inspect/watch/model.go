// Package watch is the full-screen live view of all Go processes.
//
// # Model
//
// Snapshots come in one at a time and update a list of rows. A row is one process,
// identified by PID and start, with its last [observe.Process] and a bounded history of
// its counters. The list, the keys and the size of the terminal decide which rows are
// shown, in what order and how; there is no other state. Update never waits: scans and
// explanations run in parallel.
//
// Text from outside (names, versions, messages, explanations) is cleaned before it is
// measured or drawn: it cannot move the cursor, change a color or change the direction of
// writing, and all terminals agree on its width.
//
// # Limits
//
//   - SIGKILL, and a panic in a goroutine that Scan itself starts, end the process
//     before the screen is restored; the command reset repairs the terminal.
//   - The history is lost when the view ends.
//   - Throttling belongs to a cgroup: all processes in it show the same values.
package watch

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
)

type page int

const (
	tablePage page = iota
	detailPage
	helpPage
)

// model is the state of the view. Only Update changes it.
type model struct {
	look
	options Options
	work    *work
	now     func() time.Time
	after   func(time.Duration, func(time.Time) tea.Msg) tea.Cmd

	width, height int
	page          page
	back          page // from help
	list          list
	typing        bool   // the filter
	before        filter // while another one is typed
	pager         window // the detail's lower part, or help

	began    time.Time
	snap     observe.Snapshot // the last
	seen     bool             // there is one
	failed   error            // of the last scan
	interval time.Duration
	paused   bool
	scanning bool
	started  time.Time     // the scan under way, or the last
	took     time.Duration // the last scan
	timer    int           // the tick that counts

	detail     observe.Identity
	explained  string
	explaining bool
}

type (
	sizeMsg = tea.WindowSizeMsg
	tickMsg int
	scanMsg struct {
		snap observe.Snapshot
		err  error
	}
	explainMsg struct {
		of   observe.Identity
		text string
	}
)

func newModel(o Options, look look, work *work) *model {
	m := &model{look: look, options: o, work: work, now: time.Now, after: tea.Tick, interval: o.Interval}
	m.list = list{look: look, rows: map[observe.Identity]*row{}, widths: make([]int, len(columns)), sort: inspect.Index(o.Sort)}
	m.began = m.now()
	return m
}

func (m *model) Init() tea.Cmd { return m.scan() }

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) { return m, m.update(msg) }

func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case crash:
		panic(string(msg)) // the program ends, the screen is restored, and the stack is below it
	case sizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tickMsg:
		if int(msg) == m.timer && !m.paused {
			return m.scan()
		}
	case scanMsg:
		return m.scanned(msg)
	case explainMsg:
		m.explaining = false
		if msg.of != m.detail {
			return m.explain() // of the one that was chosen meanwhile
		}
		m.explained = msg.text
	case tea.PasteMsg:
		if m.typing {
			text, _ := edited(string(m.list.filter), "", strings.Join(strings.Fields(msg.Content), " "))
			m.refilter(text)
		}
	case tea.KeyPressMsg:
		return m.key(msg)
	}
	return nil
}

func (m *model) scan() tea.Cmd {
	if m.scanning {
		return nil
	}
	m.scanning, m.started = true, m.now()
	return m.work.command(func(ctx context.Context) tea.Msg {
		snap, err := m.options.Scan(ctx)
		return scanMsg{snap, err}
	})
}

func (m *model) scanned(msg scanMsg) tea.Cmd {
	m.scanning, m.took = false, m.now().Sub(m.started)
	m.failed = msg.err
	if msg.err != nil {
		return m.wait()
	}
	first := !m.seen
	m.snap, m.seen = msg.snap, true
	m.list.take(msg.snap, m.now().Sub(m.began), m.detail)
	if first && m.interval > firstWait {
		// Most values need two scans, so the second one comes soon.
		return tea.Batch(m.tick(firstWait), m.explain())
	}
	return tea.Batch(m.wait(), m.explain())
}

const firstWait = 500 * time.Millisecond

// wait waits for the next scan. After a slow scan, the pause is at least as long as the
// scan took.
func (m *model) wait() tea.Cmd {
	return m.tick(max(m.interval-m.now().Sub(m.started), m.took))
}

func (m *model) tick(after time.Duration) tea.Cmd {
	m.timer++
	n := m.timer
	return m.after(max(0, after), func(time.Time) tea.Msg { return tickMsg(n) })
}

func (m *model) explain() tea.Cmd {
	r := m.list.rows[m.detail]
	if m.page != detailPage || r == nil || r.gone > 0 || m.explaining {
		return nil
	}
	m.explaining = true
	process := r.process
	return m.work.command(func(context.Context) tea.Msg {
		return explainMsg{process.Identity(), m.options.Explain(process)}
	})
}

func (m *model) refilter(text string) {
	m.list.filter = filter(text)
	m.list.arrange()
}
