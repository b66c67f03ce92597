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
	return &document.Document{Title: r.Name, Date: document.Date(r.Started), Blocks: document.Some(
		w.answer(), document.Text{Text: w.setting(), Style: document.Muted}, w.notes(),
		document.Heading{Level: 2, Text: fmt.Sprintf("At %s req/s", number.Count(r.RatePerSecond))}, w.steps(),
		document.Heading{Level: 2, Text: "At full load, next to a fresh start under the same limit"}, w.mostUsed(),
	)}
}

type resizeWords struct{ *resize.Rehearsal }

func (w resizeWords) answer() document.Panel {
	p := document.Panel{Name: "Verdict", Tone: document.OK, Label: "Followed", Level: 2, Sentence: "GOMAXPROCS followed every change of the CPU limit."}
	differ := func(f resize.Fresh) bool { return f.Procs != w.Fresh[0].Procs }
	switch {
	case len(w.Laggards) > 0:
		p.Tone, p.Label = document.Act, "Did not follow"
		p.Sentence = w.laggard(w.Laggards[0].Code, w.Steps[w.Laggards[0].Step]).what
	case w.Unfinished != "":
		p.Tone, p.Label, p.Sentence = document.Unknown, "Not finished", "The rehearsal did not measure all of its steps and fresh starts."
	case !slices.ContainsFunc(w.Fresh, differ):
		p.Tone, p.Label = document.Unknown, "Nothing to follow"
		p.Sentence = fmt.Sprintf("On this machine GOMAXPROCS is %d under each of these limits, also after a fresh start.", w.Fresh[0].Procs)
	}
	return p
}

func (w resizeWords) setting() string {
	text := fmt.Sprintf("%s, %s", w.Name, w.Program.GoVersion)
	if w.Program.EnvProcs != nil {
		text += fmt.Sprintf(", GOMAXPROCS=%d in its environment", *w.Program.EnvProcs)
	}
	return text + fmt.Sprintf("; %s; the program may use %s", phrase.Count(w.Load.Connections, "connection"), number.CPUs(float64(w.Host.AffinityCPUs)))
}

// notes leave the sentence of the first one to the panel.
func (w resizeWords) notes() (list document.Notes) {
	for i, one := range w.Laggards {
		l := w.laggard(one.Code, w.Steps[one.Step])
		if i > 0 {
			l.why = l.what + " " + l.why
		}
		list = append(list, document.Note{Subject: l.name, Message: l.why, Fix: l.fix})
	}
	if w.Unfinished != "" {
		why, _, _ := Said(w.Unfinished)
		list = append(list, document.Note{Subject: "not finished", Message: fmt.Sprintf("The rehearsal ended after %s: %s.", phrase.Count(len(w.Steps), "step"), why)})
	}
	if len(w.PoolsUnjudged) > 0 {
		s := w.Steps[w.PoolsUnjudged[0]]
		why, fix := "its CPU time is not known", "Stop other programs on this machine, or measure on a quieter one."
		switch {
		case s.Most.CPUs == nil:
		case s.Most.OtherCPUs == nil:
			why = "the CPU time of other programs is not known"
		case w.Unfinished != "":
			why, fix = "the rehearsal ended before procfit measured that fresh start again", ""
		default:
			why = "other programs used " + number.CPUsUsed(*s.Most.OtherCPUs)
		}
		list = append(list, document.Note{Subject: "pools not judged", Message: w.laggard(resize.Pool, s).what +
			" Whether a pool kept its size is not known, because " + why + ".", Fix: fix})
	}
	return list
}

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

func loadCells(l *resize.Load) []string {
	if l == nil {
		return nil
	}
	return []string{
		number.Maybe(l.P50Seconds, number.Seconds), number.Maybe(l.P99Seconds, number.Seconds), fmt.Sprint(l.Failed),
		number.Maybe(l.CPUs, number.Hundredths), number.Maybe(l.ThrottledRatio, number.Share),
	}
}

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

func (w resizeWords) mostUsed() document.Table {
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

const watchFix = "import github.com/procfit/procfit/maxprocs, and call `go maxprocs.Watch(ctx)` at the beginning of main"

type laggard struct{ name, what, why, fix string }

func (w resizeWords) laggard(code resize.Code, s resize.Step) (l laggard) {
	limit, fresh := number.CPUs(s.LimitCPUs), w.FreshAt(s.LimitCPUs)
	l.what = fmt.Sprintf("GOMAXPROCS was %d under a limit of %s, where the newest Go has %d.", s.Procs, limit, s.DefaultProcs)
	switch code {
	case resize.Environment:
		l.name, l.fix = "environment variable", "remove the variable from the environment"
		l.why = fmt.Sprintf("GOMAXPROCS=%d is in the environment of the program, and ends the updates of the Go runtime.", *w.Program.EnvProcs)
	case resize.Fixed:
		l.name, l.fix = "fixed in code", "remove the call of `runtime.GOMAXPROCS`, or "+watchFix
		l.why = "Each fresh start has the same value under every limit: the code sets it, with runtime.GOMAXPROCS, and the Go runtime no longer updates it."
	case resize.AtStart:
		by := phrase.If(w.Program.Automaxprocs != "", "go.uber.org/automaxprocs", "the code of the program, or a library,")
		l.name, l.fix = "set once at the start", "remove what sets it, if the program is built with Go 1.25 or newer; otherwise "+watchFix
		l.why = fmt.Sprintf("A fresh start under this limit has %d: %s sets the value at the start, and the Go runtime no longer updates it.", fresh.Procs, by)
	case resize.OldGo:
		l.name, l.fix = "Go without limits", "build it with Go 1.25 or newer and `go 1.25` in go.mod, or "+watchFix
		l.why = fmt.Sprintf("Its Go runtime (%s) does not read CPU limits: that takes Go 1.25, and a go line of 1.25 or newer in go.mod.", w.Program.GoVersion)
	case resize.Failing:
		failed, _, _ := Said(s.Fails())
		l.name, l.fix = "failing", "find in its output why its requests fail"
		l.what = fmt.Sprintf("Under a limit of %s its requests failed.", limit)
		l.why = phrase.Capital(failed) + "; fresh starts under the same limits answer them."
	case resize.Pool:
		l.name, l.fix = "sized at the start", "resize the pool when GOMAXPROCS changes: `maxprocs.OnChange` calls your function"
		l.what = fmt.Sprintf("Under a limit of %s it carried %s req/s, and a fresh start %s req/s.", limit, number.Count(s.Most.PerSecond), number.Count(fresh.Most.PerSecond))
		l.why = fmt.Sprintf("GOMAXPROCS is the same, %d, and CPU time is left: it used %s, with %s; the fresh start has %d. Something else keeps the size that it had at the start, such as a pool of workers or of connections.",
			s.Procs, number.Maybe(s.Most.CPUs, number.CPUsUsed), phrase.Count(s.Threads, "thread"), fresh.Threads)
	case resize.Slow:
		l.name, l.fix = "slow", "if the program looks at its limit by itself, look more often, or leave it to the Go runtime; or "+watchFix
		l.what = fmt.Sprintf("GOMAXPROCS was still %d when the step with a limit of %s ended, after %s.", s.Procs, limit, afterTime(s.Seconds))
		if s.FollowedSeconds != nil {
			l.what = fmt.Sprintf("GOMAXPROCS followed the limit of %s after %s.", limit, afterTime(*s.FollowedSeconds))
		}
		l.why = fmt.Sprintf("The Go runtime follows within about a second while the program is busy; more than %s is slow.", afterTime(resize.SlowAfter.Seconds()))
	case resize.Killed:
		ended, _, _ := Said(s.Ended)
		l.name, l.fix = "ended", "find in its output why it ended"
		l.what, l.why = fmt.Sprintf("The program ended under a limit of %s.", limit), phrase.Capital(ended)+"."
	case resize.Restarted:
		l.name, l.fix = "restarted", "find in its output why it ended"
		l.what, l.why = fmt.Sprintf("Its process was replaced under a limit of %s.", limit), "Something started the program again while its limit changed."
	}
	l.fix = phrase.Capital(l.fix) + "."
	return l
}
