package page

import (
	"fmt"
	"slices"
	"time"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/resize"
)

// Resize is the page of a resize that was rehearsed.
func Resize(r *resize.Rehearsal) *document.Document {
	w := resizeWords{r}
	blocks := []document.Block{
		w.answer(),
		document.Text{Text: w.setting(), Style: document.Muted},
	}
	if notes := w.notes(); len(notes) > 0 {
		blocks = append(blocks, notes)
	}
	return &document.Document{Title: r.Name, Date: document.Date(r.Started), Blocks: append(blocks,
		document.Heading{Level: 2, Text: fmt.Sprintf("At %s req/s", number.Count(r.RatePerSecond))}, w.steps(),
		document.Heading{Level: 2, Text: "At full load, next to a fresh start under the same limit"}, w.most(),
	)}
}

// resizeWords words a rehearsal.
type resizeWords struct{ *resize.Rehearsal }

// answer is whether all followed.
func (w resizeWords) answer() document.Panel {
	p := document.Panel{Name: "Verdict", Tone: document.OK, Label: "Followed", Level: 2, Sentence: "GOMAXPROCS followed every change of the CPU limit."}
	differ := func(f resize.Fresh) bool { return f.Procs != w.Fresh[0].Procs }
	switch {
	case len(w.Laggards) > 0:
		p.Tone, p.Label = document.Act, "Did not follow"
		p.Sentence = w.message(w.Laggards[0])
	case !slices.ContainsFunc(w.Fresh, differ):
		p.Tone, p.Label = document.Unknown, "Nothing to follow"
		p.Sentence = fmt.Sprintf("On this machine GOMAXPROCS is %d under each of these limits, also after a fresh start.", w.Fresh[0].Procs)
	}
	return p
}

// setting is what was rehearsed.
func (w resizeWords) setting() string {
	text := fmt.Sprintf("%s, %s", w.Name, w.Program.GoVersion)
	if w.Program.EnvProcs != nil {
		text += fmt.Sprintf(", GOMAXPROCS=%d in its environment", *w.Program.EnvProcs)
	}
	return text + fmt.Sprintf("; %s; the program may use %s", phrase.Count(w.Load.Connections, "connection"), number.CPUs(float64(w.Host.AffinityCPUs)))
}

// notes are what did not follow, each with its reason and its fix. The panel has the
// sentence of the first.
func (w resizeWords) notes() (list document.Notes) {
	for i, l := range w.Laggards {
		words, s := laggards[l.Code], w.Steps[l.Step]
		message := words.why(w, s, w.FreshAt(s.LimitCPUs))
		if i > 0 {
			message = w.message(l) + " " + message
		}
		list = append(list, document.Note{Subject: words.name, Message: message, Fix: phrase.Capital(words.fix) + "."})
	}
	if len(w.PoolsUnjudged) > 0 {
		s := w.Steps[w.PoolsUnjudged[0]]
		why := "its CPU time is not known"
		if s.Most.CPUs != nil {
			why = "other programs used " + number.CPUsUsed(*s.Most.OtherCPUs)
		}
		list = append(list, document.Note{Subject: "pools not judged", Message: laggards[resize.Pool].what(w, s, w.FreshAt(s.LimitCPUs)) +
			" Whether a pool kept its size is not known, because " + why + ".", Fix: "Stop other programs on this machine, or measure on a quieter one."})
	}
	if code := w.Elsewhere(); code != "" {
		words, s := laggards[code], w.Steps[0]
		list = append(list, document.Note{Subject: "with more CPUs, it would not follow", Message: words.why(w, s, w.FreshAt(s.LimitCPUs)), Fix: phrase.Capital(words.fix) + "."})
	}
	return list
}

// message is what a laggard did.
func (w resizeWords) message(l resize.Laggard) string {
	s := w.Steps[l.Step]
	return laggards[l.Code].what(w, s, w.FreshAt(s.LimitCPUs))
}

// steps are the steps at the rate.
func (w resizeWords) steps() document.Table {
	t := document.Table{Columns: []document.Column{
		{Head: "at", Short: "at"}, {Head: "limit", Short: "limit"}, {Head: "GOMAXPROCS", Short: "procs"}, {Head: "Go's default", Short: "default"}, {Head: "followed after", Short: "after"},
		{Head: "GOMEMLIMIT"}, {Head: "p50", Short: "p50"}, {Head: "p99", Short: "p99"}, {Head: "failed", Short: "failed"}, {Head: "CPUs used", Short: "CPUs"}, {Head: "throttled", Short: "throttled"},
	}}
	for _, s := range w.Steps {
		cells := []string{afterTime(s.AtSeconds), number.BareCPUs(s.LimitCPUs)}
		if s.Ended != "" {
			cells = append(cells, "ended")
		} else {
			cells = append(cells, fmt.Sprint(s.Procs), fmt.Sprint(s.DefaultProcs), followed(s), memoryLimit(s.MemoryLimitBytes))
			cells = append(cells, loadCells(s.Paced)...)
		}
		t.Rows = append(t.Rows, cellsOf(cells, len(t.Columns)))
	}
	return t
}

// afterTime is a time since the start, or since a change.
func afterTime(seconds float64) string {
	return number.Chosen(time.Duration(seconds * float64(time.Second)).Round(100 * time.Millisecond))
}

func followed(s resize.Step) string {
	if s.FollowedSeconds == nil {
		return "-"
	}
	return afterTime(*s.FollowedSeconds)
}

func memoryLimit(bytes *int64) string {
	if bytes == nil {
		return "none"
	}
	return number.Bytes(float64(*bytes))
}

// loadCells are latency, failures and CPU use.
func loadCells(l *resize.Load) []string {
	if l == nil {
		return nil
	}
	return []string{
		number.Maybe(l.P50Seconds, number.Seconds), number.Maybe(l.P99Seconds, number.Seconds), fmt.Sprint(l.Failed),
		number.Maybe(l.CPUs, number.Hundredths), number.Maybe(l.ThrottledRatio, number.Share),
	}
}

// cellsOf is a row of n cells.
func cellsOf(texts []string, n int) (row document.Row) {
	for i := range n {
		c := document.Cell{Value: "-"}
		if i < len(texts) {
			c.Value = texts[i]
		}
		row.Cells = append(row.Cells, c)
	}
	return row
}

// most is what each step and the fresh start under its limit carry.
func (w resizeWords) most() document.Table {
	t := document.Table{Columns: []document.Column{
		{Head: "at", Short: "at"}, {Head: "limit", Short: "limit"}, {Head: "req/s", Short: "req/s"}, {Head: "CPUs used", Short: "CPUs"}, {Head: "threads", Short: "threads"},
		{Head: "fresh: req/s", Short: "fresh: req/s"}, {Head: "CPUs used", Short: "CPUs"}, {Head: "threads", Short: "threads"}, {Head: "GOMAXPROCS", Short: "procs"},
	}}
	for _, s := range w.Steps {
		fresh := w.FreshAt(s.LimitCPUs)
		cells := []string{afterTime(s.AtSeconds), number.BareCPUs(s.LimitCPUs)}
		cells = append(cells, mostCells(s.Most, s.Threads)...)
		cells = append(append(cells, mostCells(fresh.Most, fresh.Threads)...), fmt.Sprint(fresh.Procs))
		t.Rows = append(t.Rows, cellsOf(cells, len(t.Columns)))
	}
	return t
}

func mostCells(l *resize.Load, threads int) []string {
	if l == nil {
		return []string{"-", "-", "-"}
	}
	return []string{number.Count(l.PerSecond), number.Maybe(l.CPUs, number.Hundredths), fmt.Sprint(threads)}
}

// laggard is how one is worded: its name, what it did, why, and the fix.
type laggard struct {
	name string
	what func(w resizeWords, s resize.Step, fresh resize.Fresh) string
	why  func(w resizeWords, s resize.Step, fresh resize.Fresh) string
	fix  string
}

// stayed is the sentence of a GOMAXPROCS that is not that of the limit.
func stayed(_ resizeWords, s resize.Step, _ resize.Fresh) string {
	return fmt.Sprintf("GOMAXPROCS was %d under a limit of %s, where the newest Go has %d.", s.Procs, number.CPUs(s.LimitCPUs), s.DefaultProcs)
}

// always is a reason without figures.
func always(text string) func(resizeWords, resize.Step, resize.Fresh) string {
	return func(resizeWords, resize.Step, resize.Fresh) string { return text }
}

const watchFix = "call `go maxprocs.Watch(ctx)` at the beginning of main; docs/how-to/follow-a-resize.md shows it"

// laggards are all of them, by their codes.
var laggards = map[resize.Code]laggard{
	resize.Environment: {
		"environment variable", stayed,
		func(w resizeWords, _ resize.Step, _ resize.Fresh) string {
			return fmt.Sprintf("GOMAXPROCS=%d is in the environment of the program, and ends the updates of the Go runtime.", *w.Program.EnvProcs)
		},
		"remove the variable from the environment",
	},
	resize.Fixed: {
		"fixed in code", stayed,
		always("Each fresh start has the same value under every limit: the code sets it, with runtime.GOMAXPROCS, and the Go runtime no longer updates it."),
		"remove the call of `runtime.GOMAXPROCS`, or " + watchFix,
	},
	resize.AtStart: {
		"set once at the start", stayed,
		func(w resizeWords, s resize.Step, fresh resize.Fresh) string {
			by := "the code of the program, or a library,"
			if w.Program.Automaxprocs != "" {
				by = "go.uber.org/automaxprocs"
			}
			return fmt.Sprintf("A fresh start under this limit has %d: %s sets the value at the start, and the Go runtime no longer updates it.", fresh.Procs, by)
		},
		"remove what sets it, if the program is built with Go 1.25 or newer; otherwise " + watchFix,
	},
	resize.OldGo: {
		"Go without limits", stayed,
		func(w resizeWords, _ resize.Step, _ resize.Fresh) string {
			return fmt.Sprintf("Its Go runtime (%s) does not read CPU limits: that takes Go 1.25, and a go line of 1.25 or newer in go.mod.", w.Program.GoVersion)
		},
		"build it with Go 1.25 or newer and `go 1.25` in go.mod, or " + watchFix,
	},
	resize.Failing: {
		"failing",
		func(_ resizeWords, s resize.Step, _ resize.Fresh) string {
			return fmt.Sprintf("Under a limit of %s its requests failed.", number.CPUs(s.LimitCPUs))
		},
		func(_ resizeWords, s resize.Step, _ resize.Fresh) string {
			what, _, _ := Said(s.Fails())
			return phrase.Capital(what) + "; fresh starts under the same limits answer them."
		},
		"find in its output why its requests fail",
	},
	resize.Pool: {
		"sized at the start",
		func(_ resizeWords, s resize.Step, fresh resize.Fresh) string {
			return fmt.Sprintf("Under a limit of %s it carried %s req/s, and a fresh start %s req/s.", number.CPUs(s.LimitCPUs), number.Count(s.Most.PerSecond), number.Count(fresh.Most.PerSecond))
		},
		func(_ resizeWords, s resize.Step, fresh resize.Fresh) string {
			return fmt.Sprintf("GOMAXPROCS is the same, %d, and CPU time is left: it used %s, with %s; the fresh start has %d. Something else keeps the size that it had at the start, such as a pool of workers or of connections.",
				s.Procs, number.CPUsUsed(*s.Most.CPUs), phrase.Count(s.Threads, "thread"), fresh.Threads)
		},
		"resize the pool when GOMAXPROCS changes: `maxprocs.OnChange` calls your function",
	},
	resize.Slow: {
		"slow",
		func(_ resizeWords, s resize.Step, _ resize.Fresh) string {
			if s.FollowedSeconds == nil {
				return fmt.Sprintf("GOMAXPROCS was still %d when the step with a limit of %s ended, after %s.", s.Procs, number.CPUs(s.LimitCPUs), afterTime(s.Seconds))
			}
			return fmt.Sprintf("GOMAXPROCS followed the limit of %s after %s.", number.CPUs(s.LimitCPUs), afterTime(*s.FollowedSeconds))
		},
		always(fmt.Sprintf("The Go runtime follows within about a second while the program is busy; more than %s is slow.", afterTime(resize.SlowAfter.Seconds()))),
		"if the program looks at its limit by itself, look more often, or leave it to the Go runtime; or " + watchFix,
	},
	resize.Killed: {
		"ended",
		func(_ resizeWords, s resize.Step, _ resize.Fresh) string {
			return fmt.Sprintf("The program ended under a limit of %s.", number.CPUs(s.LimitCPUs))
		},
		func(_ resizeWords, s resize.Step, _ resize.Fresh) string {
			what, _, _ := Said(s.Ended)
			return phrase.Capital(what) + "."
		},
		"find in its output why it ended",
	},
	resize.Restarted: {
		"restarted",
		func(_ resizeWords, s resize.Step, _ resize.Fresh) string {
			return fmt.Sprintf("Its process was replaced under a limit of %s.", number.CPUs(s.LimitCPUs))
		},
		always("Something started the program again while its limit changed."),
		"find in its output why it ended",
	},
}
