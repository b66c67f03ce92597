package supervisor

import (
	"encoding/gob"
	"fmt"
	"io"
	"sync"
)

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
		text += fmt.Sprintf(", but processes %v outlive SIGKILL", e.Left)
	}
	if e.Said != "" {
		text += "; it said:\n" + e.Said
	}
	return text
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
