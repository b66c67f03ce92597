package trace

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/trace/sched"
)

const mebibyte = 1 << 20

// liveEvery is how often the line may change.
const liveEvery = 200 * time.Millisecond

// liveLine is a line below what a program prints, drawn again after it. Where out
// is no terminal there is none, and what is written goes through.
type liveLine struct {
	out   io.Writer
	width int // 0: no terminal

	mu     sync.Mutex
	text   string
	drawn  bool
	within bool // the program's last line has not ended
	last   time.Time
}

func newLiveLine(out io.Writer) *liveLine {
	l := &liveLine{out: out}
	if f, ok := out.(*os.File); ok && terminal.Escapes(f) {
		l.width = 80
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			l.width = w
		}
	}
	return l
}

// Write passes a program's output on.
func (l *liveLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	n, err := l.out.Write(p)
	if len(p) > 0 {
		l.within = !bytes.HasSuffix(p, []byte("\n"))
	}
	l.draw()
	return n, err
}

// due reports whether it is time for another text.
func (l *liveLine) due() bool { return l.width > 0 && time.Since(l.last) >= liveEvery }

// set changes the text; one goroutine alone calls due and set.
func (l *liveLine) set(text string) {
	l.last = time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := []rune(text); len(r) >= l.width {
		text = string(r[:max(0, l.width-1)])
	}
	l.text = text
	l.erase()
	l.draw()
}

// finish leaves the terminal as it was.
func (l *liveLine) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	l.text = ""
	if l.within && l.width > 0 {
		fmt.Fprintln(l.out)
		l.within = false
	}
}

func (l *liveLine) erase() {
	if l.drawn {
		fmt.Fprint(l.out, "\r\x1b[K")
		l.drawn = false
	}
}

func (l *liveLine) draw() {
	if l.width > 0 && l.text != "" && !l.within {
		fmt.Fprint(l.out, l.text)
		l.drawn = true
	}
}

// liveText is the state of a program at one sample.
func liveText(verb string, elapsed time.Duration, c sched.Counts, s *sched.Sample) string {
	whole := func(n int64) string {
		if n < 0 {
			return "?"
		}
		return fmt.Sprint(n)
	}
	text := fmt.Sprintf("%s %s  %d samples  idle Ps %s of %s  queued %s + %s global  threads %s", verb, number.Clock(elapsed), c.Samples,
		whole(int64(s.IdleProcs)), whole(int64(s.Procs)), whole(s.QueuedLocal()), whole(int64(s.GlobalQueue)), whole(int64(s.Threads)))
	if c.Bytes > 16*mebibyte {
		text += "  " + number.Bytes(float64(c.Bytes))
	}
	return text
}
