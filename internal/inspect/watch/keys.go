package watch

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/procfit/procfit/internal/program/observe"
)

// intervals are the choices of + and -.
var intervals = []time.Duration{
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second,
	10 * time.Second, 30 * time.Second, time.Minute,
}

func (m *model) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case name == "ctrl+z":
		return tea.Suspend
	case name == "ctrl+l":
		return tea.ClearScreen
	case m.typing:
		m.typed(name, msg.Text)
		return nil
	}
	if by, ok := m.motion(name); ok {
		m.move(by)
		return nil
	}
	switch name {
	case "q":
		return tea.Quit
	case "?", "f1", "h":
		m.help()
	case "esc":
		m.leave()
	case "p", "space":
		return m.pause()
	case "r":
		return m.scan()
	case "+", "=":
		return m.pace(1)
	case "-", "_":
		return m.pace(-1)
	default:
		if m.page == tablePage {
			return m.tableKey(name)
		}
		if name == "left" || name == "backspace" {
			m.leave()
		}
	}
	return nil
}

func (m *model) tableKey(name string) tea.Cmd {
	switch name {
	case "enter", "right":
		id, ok := m.list.selected()
		if !ok {
			return nil
		}
		m.open(detailPage)
		m.detail, m.explained = id, ""
		return m.explain()
	case "/":
		m.before, m.typing = m.list.filter, true
	case "s", ">":
		m.resort(1)
	case "<":
		m.resort(-1)
	case "S":
		m.list.reverse = !m.list.reverse
		m.list.arrange()
	}
	return nil
}

func (m *model) motion(name string) (by int, ok bool) {
	const all = 1 << 30
	switch name {
	case "up", "k", "ctrl+p":
		return -1, true
	case "down", "j", "ctrl+n":
		return 1, true
	case "pgup", "ctrl+b":
		return -m.paging(), true
	case "pgdown", "ctrl+f":
		return m.paging(), true
	case "home", "g":
		return -all, true
	case "end", "G":
		return all, true
	}
	return 0, false
}

func (m *model) move(by int) {
	if m.page == tablePage {
		m.list.move(by)
		return
	}
	m.lines() // what there is to scroll
	m.pager.scroll(by)
}

func (m *model) paging() int {
	if m.page == tablePage {
		return max(1, m.list.window.height-1)
	}
	return max(1, m.pager.height-1)
}

func (m *model) open(p page) {
	m.page = p
	m.pager.top = 0
}

// typed handles a key while a filter is typed; arrows still move the selection.
func (m *model) typed(name, text string) {
	changed, changes := edited(string(m.list.filter), name, text)
	switch by, moves := m.motion(name); {
	case name == "enter":
		m.typing = false
	case name == "esc":
		m.typing = false
		m.list.filter = m.before
		m.list.arrange()
	case changes:
		m.refilter(changed)
	case moves:
		m.list.move(by)
	}
}

// leave goes back one step: from a page, or from a filter.
func (m *model) leave() {
	switch {
	case m.page == helpPage:
		m.open(m.back)
	case m.page == detailPage:
		m.open(tablePage)
		m.detail, m.explained = observe.Identity{}, ""
	default:
		m.list.filter = ""
		m.list.arrange()
	}
}

func (m *model) help() {
	if m.page == helpPage {
		m.leave()
		return
	}
	m.back = m.page
	m.open(helpPage)
}

// pause stops scanning; a running scan is still used.
func (m *model) pause() tea.Cmd {
	m.paused = !m.paused
	if m.paused {
		return nil
	}
	return m.scan()
}

func (m *model) pace(by int) tea.Cmd {
	i, found := slices.BinarySearch(intervals, m.interval)
	switch {
	case by > 0 && found:
		i++
	case by < 0:
		i--
	}
	m.interval = intervals[max(0, min(i, len(intervals)-1))]
	if m.scanning {
		return nil // the wait after it is the new one
	}
	return m.wait()
}

// resort sorts by the next shown column to the right or left.
func (m *model) resort(by int) {
	shown := m.columnsShown()
	i := slices.Index(shown, m.list.sort)
	if i < 0 && by < 0 {
		i = 0
	}
	m.list.sort = shown[(i+by+len(shown))%len(shown)]
	m.list.reverse = false
	m.list.arrange()
}
