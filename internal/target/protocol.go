package target

import "time"

// What procfit, the supervisor and the stage tell each other, as gob, which
// keeps every byte of an argument or a path. All three are the same executable,
// so there are no versions.

// request is the first message to the supervisor, and from there to the stage.
type request struct {
	Path       string
	Args       []string
	Dir        string
	Env        []string
	CPUs       []int
	ProcsFiles []string
	LogPath    string
	LogLimit   int64
	Streams    bool // the descriptors from firstStream on are the target's
	Supervisor int  // its PID, added by itself
}

// firstStream is the supervisor's descriptor of the target's standard input; its
// output and error follow.
const firstStream = 4

// command is what procfit sends next.
type command struct {
	Op    op
	Grace time.Duration // of opStop
}

type op int

const (
	opStop op = iota + 1 // SIGTERM, then SIGKILL after the grace
	opTail               // answer with the last output
)

// event is what the supervisor sends.
type event struct {
	Kind  eventKind
	Error string // why it did not start
	PID   int
	Tail  []byte
	Exit  Exit
}

type eventKind int

const (
	evStarted eventKind = iota + 1
	evFailed
	evTail
	evExited
)

// report is what the stage sends to the supervisor: first what it used so far,
// then, only if exec failed, why.
type report struct {
	Error string
	Used  usage
}

type usage struct {
	User, System           time.Duration
	Voluntary, Involuntary int64
	MaxRSSBytes            int64
}
