package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/procfit/procfit/internal/journal"
	"github.com/procfit/procfit/internal/phrase"
	"github.com/procfit/procfit/internal/sweep"
	"github.com/procfit/procfit/internal/trial"
)

// progress tells on stderr where a sweep stands: one line that is redrawn on a
// terminal, a line a trial elsewhere.
type progress struct {
	out   io.Writer
	width int // 0: not a terminal
	now   func() time.Time
	began time.Time

	mu    sync.Mutex
	last  sweep.Progress
	title string        // of the sweep, where there are several: "3/23 chain"
	later time.Duration // that the sweeps after this one will take
	what  string        // the phase of the trial
	stop  chan struct{}
	ended sync.WaitGroup
}

func newProgress(out io.Writer, now func() time.Time) *progress {
	p := &progress{out: out, now: now, began: now(), stop: make(chan struct{})}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.width = 80
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			p.width = w
		}
		p.ended.Go(p.tick)
	}
	return p
}

// tick redraws, so that the times go on while a trial runs.
func (p *progress) tick() {
	t := time.NewTicker(250 * time.Millisecond)
	defer t.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-t.C:
			p.mu.Lock()
			p.draw()
			p.mu.Unlock()
		}
	}
}

// activity is called by the Runner as a trial goes on.
func (p *progress) activity(a sweep.Activity) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what = activity(a)
	p.draw()
}

// next begins another sweep.
func (p *progress) next(title string, later time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.title, p.later = sweep.Progress{}, title+" ", later
}

// say prints a line above the progress line.
func (p *progress) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line(line)
}

// Write prints whole lines, so that notes go where say's lines go.
func (p *progress) Write(b []byte) (int, error) {
	p.say(strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

// report is called at the beginning and the end of every trial.
func (p *progress) report(s sweep.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.what = s, "starting"
	switch {
	case s.Trial == nil:
		p.draw()
	case !s.Trial.Valid:
		reason := phrase.FirstLine(s.Trial.InvalidReason)
		p.line(fmt.Sprintf("procfit: %s[%s] %s: invalid: %s", p.title, count(s), armName(s.Task), strings.TrimSuffix(reason, ":")))
	case p.width == 0:
		p.line(fmt.Sprintf("procfit: %s[%s] %s: %s%s, elapsed %s%s", p.title, count(s), armName(s.Task), outcome(s.Trial), open(s.Open), phrase.Clock(p.now().Sub(p.began)), p.left()))
	}
}

// finish leaves the terminal as it was.
func (p *progress) finish() {
	close(p.stop)
	p.ended.Wait()
	if p.width > 0 {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// line prints a whole line above the progress line.
func (p *progress) line(s string) {
	if p.width > 0 {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	fmt.Fprintln(p.out, s)
	p.draw()
}

const barWidth = 20

func (p *progress) draw() {
	if p.width == 0 || p.last.Total == 0 {
		return
	}
	filled := barWidth * p.last.Done / p.last.Total
	s := fmt.Sprintf("%s[%s%s] %s  %s%s%s  %s: %s", p.title, strings.Repeat("█", filled), strings.Repeat("·", barWidth-filled),
		count(p.last), phrase.Clock(p.now().Sub(p.began)), p.left(), open(p.last.Open), armName(p.last.Task), p.what)
	if r := []rune(s); len(r) >= p.width {
		s = string(r[:p.width-1])
	}
	fmt.Fprint(p.out, "\r\x1b[K"+s)
}

func (p *progress) left() string {
	left := p.last.Remaining + p.later
	if left <= 0 {
		return ""
	}
	if p.last.AtMost {
		return ", at most " + phrase.Clock(left) + " left"
	}
	return ", " + phrase.Clock(left) + " left"
}

func armName(t sweep.Task) string {
	s := "GOMAXPROCS " + t.Arm.Label + group(t.Arm.Group())
	switch t.Role {
	case journal.RoleAA:
		s += " (A/A)"
	case journal.RolePilot:
		s += " (pilot)"
	}
	return s
}

func outcome(t *journal.Trial) string {
	if t.ThroughputPerSecond == nil {
		return "done"
	}
	s := fmt.Sprintf("%.4g %s/s", *t.ThroughputPerSecond, t.ThroughputUnit)
	if t.ThroughputUnit == trial.ThroughputRuns {
		s = phrase.Seconds(float64(max(1, t.Arm.Replicas)) / *t.ThroughputPerSecond) + " a run"
	}
	if t.LatencySeconds != nil && t.LatencySeconds.P99 != nil {
		s += fmt.Sprintf(", p99 %s", time.Duration(*t.LatencySeconds.P99*float64(time.Second)).Round(10*time.Microsecond))
	}
	return s
}
