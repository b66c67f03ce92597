package supervisor

import "time"

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
	Streams    bool // the descriptors from firstFile on are the command's
	Supervisor int  // its PID, added by itself
}

// firstFile is the supervisor's descriptor of the log, or of the command's
// standard input, where its output and error follow.
const firstFile = 4

// command is what procfit sends next.
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
	opForget               // to a keeper: this path is removed already
)

// event is what the supervisor sends.
type event struct {
	Kind   eventKind
	Error  string // why it did not start
	PID    int
	Output output
	Exit   Exit
}

// output is what is at hand of a command's output, for error messages.
type output struct {
	Tail  []byte // its end
	Crash []byte // from where a Go runtime began to tell of a crash; empty: none did
}

type eventKind int

const (
	evStarted eventKind = iota + 1
	evFailed
	evOutput
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
