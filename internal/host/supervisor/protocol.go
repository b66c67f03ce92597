package supervisor

import (
	"encoding/gob"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// What procfit, the supervisor and the stage tell each other, as gob, which
// keeps every byte of an argument or a path. All three are the same executable,
// so there are no versions.

// request is the first message to the supervisor, and from there to the stage.
// One without a Path makes the supervisor a keeper.
type request struct {
	Path       string
	Args       []string
	Dir        string
	Env        []string
	CPUs       []int
	ProcsFiles []string
	Folders    []string
	LogLimit   int64
	Log        bool // the descriptor firstFile is the log
	ErrorLog   bool // the next one is the log of stderr
	Streams    bool // the descriptors from firstFile on are the command's
	Supervisor int  // its PID, added by itself
}

// firstFile is the supervisor's descriptor of the log, or of the command's
// standard input, where its output and error follow.
const firstFile = 4

type command struct {
	Op    op
	Grace time.Duration // of opStop
	Path  string        // of opFolder and opGroup
}

type op int

const (
	opStop   op = iota + 1 // SIGTERM, then SIGKILL after the grace
	opTail                 // answer with the last output
	opFolder               // to a keeper: remove this folder at the end
	opGroup                // to a keeper: remove this cgroup at the end
)

type event struct {
	PID    int    // of the command, in the first event; 0: it did not start
	Error  string // why it did not
	Output output
	Exit   *Exit // in the last event, after that of the start
}

// output is what is at hand of a command's output, for error messages.
type output struct {
	Tail  []byte // its end
	Crash []byte // from where a Go runtime began to tell of a crash; empty: none did
}

// report is what the stage sends to the supervisor: first, right before exec, what it used
// so far and when that is; then, only if exec failed, why.
type report struct {
	Error string
	Used  usage
	At    time.Duration // of CLOCK_MONOTONIC
}

type usage struct {
	User, System           time.Duration
	Voluntary, Involuntary int64
	MaxRSSBytes            int64
}

// LostError is that a supervisor ended before its command, because somebody
// killed it or the machine had no memory left for it. What it looked after has
// been ended by procfit, but how the command fared is not known.
type LostError struct {
	PID  int    // of the supervisor
	Fate string // how it ended: "signal: killed"
	Said string // what it printed, such as a crash; may be empty
	Left []int  // processes that outlive SIGKILL
}

func (e *LostError) Error() string {
	text := fmt.Sprintf("the supervisor, process %d, was lost (%s), and what it ran was ended with it", e.PID, e.Fate)
	if len(e.Left) > 0 {
		text += ", but " + (&LeftError{e.Left}).Error()
	}
	if e.Said != "" {
		text += "; it said:\n" + e.Said
	}
	return text
}

// LeftError is that processes of a command outlive SIGKILL: they are another user's, or the kernel does not let go of
// them.
type LeftError struct{ PIDs []int }

func (e *LeftError) Error() string {
	return fmt.Sprintf("processes %v are still running, because procfit could not kill them; end them, for example with sudo kill -9 %s", e.PIDs, strings.Trim(fmt.Sprint(e.PIDs), "[]"))
}

// line is procfit's end of the socket to a supervisor.
type line struct {
	pid    int // of the supervisor
	events *gob.Decoder
	wait   func() *LostError // for the supervisor's own end; not nil where it was lost

	mu   sync.Mutex // guards the writing side
	conn io.WriteCloser
	send *gob.Encoder
}

// tell fails when the supervisor is gone. What it has taken the supervisor will
// read, even if procfit dies the next moment.
func (l *line) tell(message any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.send.Encode(message)
}

// hangUp lets the supervisor end what it looks after, and itself.
func (l *line) hangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn.Close()
}
