package explain

import (
	"fmt"
	"go/version"
	"strings"

	"github.com/procfit/procfit/internal/program/observe"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/maxprocs/facts"
	"github.com/procfit/procfit/maxprocs/memlimit"
)

// memory is everything that decides a program's GOMEMLIMIT, and what follows from it.
type memory struct {
	facts  facts.Memory
	live   *int64            // what a running process uses; nil: it is not known, or does not run
	theirs memlimit.Decision // what the runtime uses
	fit    memlimit.Decision
	none   string // the runtime has no GOMEMLIMIT, in words; "": it has
}

// WithMemory adds which GOMEMLIMIT the program starts with, which one it runs with, if that
// is known, and which one it should use.
func (e Explanation) WithMemory(m facts.Memory, live *int64) Explanation {
	e.memory = &memory{facts: m, live: live, theirs: memlimit.Runtime(m), fit: memlimit.Decide(m, memlimit.Rule{})}
	if release, _, _ := strings.Cut(e.subject.Facts.GoVersion, " "); version.IsValid(release) && version.Compare(release, "go1.19") < 0 {
		e.memory.none = e.subject.RuntimeName() + " has no GOMEMLIMIT"
		e.memory.theirs = memlimit.Decision{Standing: memlimit.ByDefault, Bytes: memlimit.NoLimit, Reasons: []string{e.memory.none}, Unknown: []string{}}
	}
	return e
}

func (m memory) write(b *terminal.Writer) {
	b.WriteString("\n")
	b.Folded(b.Style(terminal.Bold, "its memory: "+m.answer()), "  ")
	b.WriteString("\n")
	if m.live != nil {
		row(b, "live", fmt.Sprintf("%8s", memlimit.Format(*m.live)), []string{"read from its memory"})
	}
	for _, d := range []struct {
		name string
		memlimit.Decision
	}{{"go", m.theirs}, {"recommended", m.fit}} {
		value := memlimit.Format(d.Bytes)
		if len(d.Unknown) > 0 && d.Standing == memlimit.Unlimited || d.Standing == memlimit.NoRoom {
			value = "?"
		}
		row(b, d.name, fmt.Sprintf("%8s", value), d.Reasons)
	}
	switch {
	case !m.beyond():
	case m.none != "":
		b.WriteString("\n")
		b.Folded("  → build it with Go 1.19 or newer, and set GOMEMLIMIT="+memlimit.Format(m.fit.Bytes)+" in its environment", "    ")
	default:
		b.WriteString("\n")
		unless := phrase.If(m.live != nil, "; Watch of that package also follows a limit that changes", " (unless its code sets a limit, which procfit cannot see)")
		b.Folded("  → set GOMEMLIMIT="+memlimit.Format(m.fit.Bytes)+
			" in its environment, or call Set of github.com/procfit/procfit/maxprocs/memlimit"+unless, "    ")
	}
}

func (m memory) beyond() bool {
	return m.fit.Standing == memlimit.Limited && m.uses() > m.fit.Bytes
}

func (m memory) uses() int64 {
	if m.live != nil {
		return *m.live
	}
	return m.theirs.Bytes
}

func (m memory) answer() string {
	starts := "it starts with GOMEMLIMIT=" + memlimit.Format(m.theirs.Bytes)
	switch {
	case m.none != "":
		return m.none
	case m.live != nil:
		starts = "it runs with GOMEMLIMIT=" + memlimit.Format(*m.live)
	case m.facts.Env.State == facts.Unreadable:
		starts = "its GOMEMLIMIT at start cannot be read"
	}
	known := len(m.fit.Unknown) == 0
	switch {
	case m.fit.Standing == memlimit.Unlimited && known:
		return starts + ", and no memory limit is known"
	case m.fit.Standing == memlimit.Unlimited:
		return starts + "; the recommended value cannot be determined"
	case m.fit.Standing == memlimit.NoRoom:
		return starts + ", and its limit leaves no memory for a program"
	case !known:
		return starts + "; it should be at most " + memlimit.Format(m.fit.Bytes)
	case !m.beyond() && m.facts.Cgroup.Version == 2 && observe.HiddenParents(m.facts.Cgroup): // v1 counts them in memory.stat
		return starts + unlessHidden
	case !m.beyond():
		return starts + ", as it should"
	case (m.live != nil && *m.live != memlimit.NoLimit || m.live == nil && m.theirs.Standing == memlimit.ByEnv) && m.uses() > m.fit.Limit:
		starts += ", above its limit of " + memlimit.Format(m.fit.Limit)
	}
	return starts + "; it should be " + memlimit.Format(m.fit.Bytes)
}

type memoryJSON struct {
	Cgroup   cgroupJSON                    `json:"cgroup"`
	Limits   []memoryLimitJSON             `json:"limits"`
	Env      factJSON                      `json:"env"`
	Live     *liveMemoryJSON               `json:"live,omitempty"` // of a running process, if it could be read
	Policies map[string]memoryDecisionJSON `json:"policies"`       // go, fit
}

type liveMemoryJSON struct {
	Bytes *int64 `json:"bytes"` // null: none
}

type memoryLimitJSON struct {
	factJSON
	Bytes *int64           `json:"bytes"` // null: no limit, or not known
	Dir   string           `json:"dir"`
	Kind  facts.MemoryKind `json:"kind"`
}

type memoryDecisionJSON struct {
	Standing memlimit.Standing `json:"standing"`
	Bytes    *int64            `json:"bytes"` // null: none
	Limit    int64             `json:"limit_bytes,omitempty"`
	File     string            `json:"file,omitempty"`
	Reasons  []string          `json:"reasons"`
	Unknown  []string          `json:"unknown"`
}

func (m memory) document() *memoryJSON {
	out := memoryJSON{
		Cgroup: cgroupOf(m.facts.Cgroup), Limits: make([]memoryLimitJSON, len(m.facts.Limits)), Env: factJSON(m.facts.Env),
		Policies: map[string]memoryDecisionJSON{"go": memoryDecisionOf(m.theirs), "fit": memoryDecisionOf(m.fit)},
	}
	if m.live != nil {
		out.Live = &liveMemoryJSON{}
		if *m.live != memlimit.NoLimit {
			out.Live.Bytes = m.live
		}
	}
	for i, l := range m.facts.Limits {
		out.Limits[i] = memoryLimitJSON{factJSON: factJSON(l.Fact), Dir: l.Dir, Kind: l.Kind}
		if l.State == facts.Known {
			out.Limits[i].Bytes = &m.facts.Limits[i].Bytes
		}
	}
	return &out
}

func memoryDecisionOf(d memlimit.Decision) memoryDecisionJSON {
	out := memoryDecisionJSON{Standing: d.Standing, Limit: d.Limit, File: d.File, Reasons: d.Reasons, Unknown: d.Unknown}
	if d.Bytes != memlimit.NoLimit {
		out.Bytes = &d.Bytes
	}
	return out
}
