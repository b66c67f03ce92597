package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/measure/trial"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/table"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/results"
	"github.com/procfit/procfit/internal/verdict/stat"
)

// progress prints on stderr how far a sweep is: a table of the settings with a bar
// below it, drawn again and again on a terminal, a line a trial elsewhere.
type progress struct {
	out   io.Writer
	now   func() time.Time
	began time.Time

	mu       sync.Mutex
	screen   liveScreen
	last     plan.Progress
	standing trial.Standing
	title    string        // of the sweep, where there are several: "3/23 chain"
	later    time.Duration // that the sweeps after this one will take
	what     string        // the phase of the trial
	quiet    time.Time     // until when the machine may stay busy; zero: no trial waits for that
	stop     chan struct{}
	ended    sync.WaitGroup
}

func newProgress(std stdio, now func() time.Time) *progress {
	p := &progress{out: std.err, now: now, began: now(), stop: make(chan struct{}), screen: newScreen(std.err)}
	if p.screen.there() {
		p.ended.Go(func() { p.tick(std.ctx.Done()) })
	}
	return p
}

// tick redraws the times while a trial runs, until an interrupt: plain lines show the end.
func (p *progress) tick(interrupted <-chan struct{}) {
	t := time.NewTicker(250 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-interrupted:
			p.mu.Lock()
			p.screen.clear()
			p.screen = liveScreen{}
			p.mu.Unlock()
			return
		case <-t.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// resume takes the trials of the journal that the run continues.
func (p *progress) resume(have *results.Results) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range have.Trials {
		p.standing.Add(&have.Trials[i])
	}
}

func (p *progress) activity(a plan.Activity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what = activity(a)
	p.draw()
}

// notice prints a line that stays, of what happens between trials, and more behind it.
func (p *progress) notice(a plan.Activity, more string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.Step == plan.StepBusy {
		p.quiet = p.now().Add(a.Left)
	}
	if a.Waited > 0 && p.screen.there() {
		p.draw() // which counts down
		return
	}
	p.line("procfit: " + activity(a) + more)
}

func (p *progress) next(title string, later time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.standing, p.title, p.later = plan.Progress{}, trial.Standing{}, title+" ", later
}

// Write prints whole lines above the table.
func (p *progress) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

// report is called at the beginning and the end of every trial.
func (p *progress) report(s plan.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.what, p.quiet = s, "starting", time.Time{}
	if s.Trial != nil {
		p.standing.Add(s.Trial)
	} else {
		p.standing.Start(s.Task)
	}
	switch {
	case s.Trial == nil, s.Task.Slice(): // of many: what they come to has a line
		p.draw()
	case !s.Trial.Valid:
		p.line(fmt.Sprintf("procfit: %s[%s] %s: invalid: %s", p.title, counted(s), taskName(s), inOneLine(s.Trial.InvalidReason)))
	case !p.screen.there():
		p.line(fmt.Sprintf("procfit: %s[%s] %s: %s%s, elapsed %s%s", p.title, counted(s), taskName(s), outcomeText(s), openQuestions(s.Open), number.Clock(p.now().Sub(p.began)), p.left()))
	}
}

// inOneLine is a reason without the program's output below it, but for one line: where a
// crash begins, the line before a usage text, or else the last, which usually has the error.
func inOneLine(reason string) string {
	what, heading, output := page.Said(reason)
	if heading != "" {
		what += "; " + heading
	}
	if len(output) > 0 {
		line := output[len(output)-1]
		usage := slices.IndexFunc(output, func(s string) bool { return strings.HasPrefix(strings.ToLower(s), "usage") })
		switch {
		case heading == "it said":
			line = output[0]
		case usage > 0:
			line = output[usage-1]
		}
		what += ": " + phrase.Clip(phrase.Clean(strings.TrimSpace(line)), 160) // characters of the program's own words
	}
	return what
}

func (p *progress) finish() {
	close(p.stop)
	p.ended.Wait()
	p.screen.clear()
}

// line prints a whole line above the table.
func (p *progress) line(s string) {
	s = phrase.CleanLines(s)
	if !p.screen.there() {
		fmt.Fprintln(p.out, s)
		return
	}
	p.draw(strings.Split(s, "\n")...)
}

func (p *progress) draw(above ...string) {
	if p.screen.there() {
		p.screen.draw(above, p.lines)
	}
}

// lines are the table of the settings, what is done just now, what is still open, and
// the bar: no more than the terminal has, less one for what was there before.
func (p *progress) lines(width, height int) []string {
	if p.last.Total == 0 {
		return nil
	}
	below := []string{taskName(p.last) + ": " + p.what}
	if !p.quiet.IsZero() {
		below[0] = "waiting until other programs stop: at most " + number.Clock(max(0, p.quiet.Sub(p.now()))) + " more"
	}
	if text := openQuestions(p.last.Open); text != "" {
		below = append(below, strings.TrimPrefix(text, ", "))
	}
	below = append(below, p.bar(width))
	below = below[max(0, len(below)-max(1, height-1)):]
	return append(standingLines(&p.standing, p.last, height-1-len(below), width), below...)
}

const barWidth = 20

// bar is how far it is; what is drawn gives way to what is written.
func (p *progress) bar(width int) string {
	text := fmt.Sprintf("%s%s, %s%s", p.title, counted(p.last), number.Clock(p.now().Sub(p.began)), p.left())
	room := min(barWidth, width-1-len("[] ")-ansi.StringWidth(text))
	if room < barWidth/4 {
		return text
	}
	filled := room * p.last.Done / p.last.Total
	if p.last.Bound > 0 {
		filled = int(float64(room) * (1 - float64(p.last.Remaining)/float64(p.last.Bound)))
	}
	return "[" + strings.Repeat("█", filled) + strings.Repeat("·", room-filled) + "] " + text
}

func (p *progress) left() string {
	left := p.last.Remaining + p.later
	if left <= 0 {
		return ""
	}
	if p.last.AtMost {
		return ", at most " + number.Clock(left) + " left"
	}
	return ", " + number.Clock(left) + " left"
}

func taskName(p plan.Progress) string {
	t := p.Task
	s := t.Setting.Title()
	if p.Versions {
		s = t.Setting.VersionName()
	}
	switch {
	case t.Repeat():
		s += " (repeat)"
	case t.Pilot():
		s += " (for the rate)"
	case t.Slice():
		s += " (slice)"
	}
	return s
}

// openQuestions is what the trials have still to tell, the first of it in words.
func openQuestions(list []plan.Question) string {
	if len(list) == 0 {
		return ""
	}
	q := list[0]
	s := "undecided: " + q.A
	if q.B != "" {
		s += " or " + q.B
	}
	if q.Quantile != "" {
		s += " by " + q.Quantile
	}
	if name := q.Group.Suffix(); name != "" {
		s += " (" + name[1:] + ")"
	}
	if n := len(list) - 1; n > 0 {
		s += ", and " + phrase.Count(n, "more pair")
	}
	return ", " + s
}

func outcomeText(p plan.Progress) string {
	t := p.Trial
	if t.ThroughputPerSecond == nil {
		return "done"
	}
	rate := number.Count(*t.ThroughputPerSecond)
	if t.ThroughputUnit == trial.ThroughputRuns {
		rate = number.Seconds(float64(max(1, t.Setting.Replicas)) / *t.ThroughputPerSecond)
	}
	s := rate + " " + rateHead(t.ThroughputUnit)
	if t.Missed() {
		s = "below " + s
	}
	if t.LatencySeconds != nil && t.LatencySeconds.P99 != nil {
		s += ", p99 " + number.Seconds(*t.LatencySeconds.P99)
	}
	if p.Others != nil {
		s += ", other programs used " + number.Percent(*p.Others) + " of the CPUs"
	}
	return s
}

// liveScreen is the foot of a terminal whose lines can be drawn again. The zero value is
// none: a pipe, a file, or a terminal without a cursor to move.
type liveScreen struct {
	size   func() (width, height int) // nil: none
	region terminal.Region
}

func newScreen(out io.Writer) liveScreen {
	s := liveScreen{region: terminal.Region{Out: out}}
	f, ok := out.(*os.File)
	if !ok || !terminal.Escapes(f) {
		return s
	}
	s.size = func() (int, int) {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
			return w, h
		}
		return 80, 24
	}
	return s
}

func (s *liveScreen) there() bool { return s.size != nil }

// draw prints lines that stay, and the foot again below them.
func (s *liveScreen) draw(above []string, foot func(width, height int) []string) {
	width, height := s.size()
	// If the terminal is gone, the work continues.
	_ = s.region.Draw(above, phrase.CleanAll(foot(width, height)), width)
}

// line makes one line the foot.
func (s *liveScreen) line(text string) {
	s.draw(nil, func(int, int) []string { return []string{text} })
}

func (s *liveScreen) clear() {
	if s.there() {
		s.draw(nil, func(int, int) []string { return nil })
	}
}

// standingLines are the settings as a table with a bound on its lines and on its
// columns; now has the one that is measured just now. Where there is no room for
// all, those measured last are shown.
func standingLines(s *trial.Standing, now plan.Progress, most, width int) []string {
	shown, hidden := s.Latest(most-1, now.Task) // below the heading
	if len(shown) == 0 {
		return nil
	}
	head, name := "GOMAXPROCS", func(one trial.SoFar) string { return one.Setting.Name() }
	if now.Versions {
		head, name = "version", func(one trial.SoFar) string { return one.Setting.VersionName() }
	}
	if hidden > 0 {
		head += fmt.Sprintf(" (%d of %d)", len(shown), len(shown)+hidden)
	}
	t := table.Table{Sign: 2, Columns: []table.Column{{Steps: []table.Step{{Rank: 1, To: len("GOMAXPROCS")}}}, {Right: true}, {Right: true}, {}}}
	inUnit := number.Count
	if s.Unit == trial.ThroughputRuns {
		inUnit = number.Seconds
	}
	t.Rows = []table.Row{{Cells: table.Cells(head, rateHead(s.Unit), "p99", "trials")}}
	for _, one := range shown {
		rate := middle(one.Rates, inUnit)
		if one.Unmet() {
			rate = "below " + rate
		}
		row := table.Row{Cells: table.Cells(name(one), rate, middle(one.P99s, number.Seconds), countOf(one))}
		if one.Measures(now.Task) {
			row.Sign = "▸"
		}
		t.Rows = append(t.Rows, row)
	}
	if !slices.ContainsFunc(shown, func(one trial.SoFar) bool { return len(one.P99s) > 0 }) {
		t.Columns = slices.Delete(t.Columns, 2, 3)
		for i := range t.Rows {
			t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, 2, 3)
		}
	}
	w := &terminal.Writer{Width: width - 1}
	t.Write(w)
	return strings.Split(strings.TrimSuffix(w.String(), "\n"), "\n")
}

func countOf(s trial.SoFar) string {
	text := strconv.Itoa(s.Valid)
	if s.Failed > 0 {
		text += fmt.Sprintf(", %d invalid", s.Failed)
	}
	return text
}

func rateHead(unit string) string {
	switch unit {
	case "":
		return ""
	case trial.ThroughputRuns:
		return "per run"
	case trial.ThroughputRequests:
		return "req/s"
	case trial.ThroughputOperations:
		return "op/s"
	}
	return phrase.Clip(phrase.Clean(unit), 16) // a metric is its own unit
}

// middle is the median of some numbers in words; empty: there are none.
func middle(list []float64, words func(float64) string) string {
	if len(list) == 0 {
		return ""
	}
	return words(stat.Middle(list))
}
