package supervisor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// defaultLogLimit is how many bytes of output are kept where a Spec names no
// limit.
const defaultLogLimit = 1 << 20

type Spec struct {
	Command    []string // resolved as a shell in procfit's own directory would, whatever Dir is
	Dir        string   // empty: procfit's own
	Env        []string // complete; of two values of one name the last counts
	CPUs       []int    // the affinity; nil: that of the calling thread
	ProcsFiles []string // cgroup.procs of the groups to enter; if procfit dies, the groups are removed with all that is in them
	// Folders do not exist yet. They are made before the command starts, and
	// removed with all that is in them when it has ended, however that was.
	Folders []string
	// Log takes stdout and stderr. The caller opens it, and may close it once the
	// command has started. Nil: they are only kept for LastWords, by Run as its Output.
	Log *os.File
	// ErrorLog takes stderr in place of Log, which then has stdout alone; nil: Log takes both.
	ErrorLog *os.File
	LogLimit int64 // bytes kept in each: the first and the last half of them, in whole lines
	// Streams become the command's standard input, output and error. Then nothing
	// goes to the log or to LastWords. Without them there is no input.
	Streams *Streams
}

// Streams are open for as long as the command runs; close them when it has
// started to see the end of a pipe.
type Streams struct{ In, Out, Err *os.File }

// Exit is how a command ended and what it used, with all its descendants that
// were waited for.
type Exit struct {
	Code        int    // -1 when a signal ended it
	Signal      string // SIGSEGV; empty when it exited
	Killed      bool   // it had to be killed because it, or its process group, outlived the grace of Stop
	Left        []int  // processes that outlive SIGKILL
	LogError    string // why the log is incomplete, without its name
	LogCut      bool   // more was written to Log than LogLimit: lines between the first and the last part are not in it
	OutputBytes int64  // written by the command to what Log takes, kept or not

	Wall                time.Duration // from exec to exit of the command itself
	User, System        time.Duration // CPU time
	VoluntarySwitches   int64
	InvoluntarySwitches int64
	MaxRSSBytes         int64 // of the largest process; 0: it is not known, see the limits of the package
}

// Failed reports whether the command did not exit with code 0.
func (e Exit) Failed() bool { return e.Code != 0 }

func (e Exit) String() string {
	if e.Signal != "" {
		return "was killed by " + e.Signal
	}
	return fmt.Sprintf("exited with code %d", e.Code)
}

// resolve checks the spec and makes its paths absolute, as the supervisor works
// in another directory.
func (s Spec) resolve() (request, error) {
	if len(s.Command) == 0 || s.Command[0] == "" {
		return request{}, errors.New("no command")
	}
	path, err := lookPath(s.Command[0])
	if err != nil {
		return request{}, err
	}
	r := request{
		Args: s.Command, Env: dedup(s.Env), CPUs: s.CPUs, ProcsFiles: s.ProcsFiles,
		LogLimit: cmp.Or(s.LogLimit, defaultLogLimit), Log: s.Log != nil && s.Streams == nil, Streams: s.Streams != nil,
	}
	r.ErrorLog = r.Log && s.ErrorLog != nil
	if r.Path, err = filepath.Abs(path); err != nil {
		return request{}, err
	}
	if r.Dir, err = filepath.Abs(s.Dir); err != nil {
		return request{}, err
	}
	for _, folder := range s.Folders {
		if folder, err = filepath.Abs(folder); err != nil {
			return request{}, err
		}
		r.Folders = append(r.Folders, folder)
	}
	return r, nil
}

// files are what the supervisor inherits in addition to its socket.
func (s Spec) files() []*os.File {
	switch {
	case s.Streams != nil:
		return []*os.File{s.Streams.In, s.Streams.Out, s.Streams.Err}
	case s.Log != nil && s.ErrorLog != nil:
		return []*os.File{s.Log, s.ErrorLog}
	case s.Log != nil:
		return []*os.File{s.Log}
	}
	return nil
}

// CheckCommand says what is wrong with a command's first word, if anything.
func CheckCommand(name string) error {
	_, err := lookPath(name)
	return err
}

// lookPath finds a command as a shell does, also in procfit's own directory.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil || errors.Is(err, exec.ErrDot) {
		return path, nil
	}
	if cause := errors.Unwrap(err); cause != nil {
		err = cause // without LookPath's "exec:"
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // without "stat" and the name again
	}
	hint := "give its path, or put it on PATH"
	if strings.ContainsRune(name, filepath.Separator) {
		hint = "is it built, and executable?"
	}
	if filepath.Ext(name) == ".go" {
		hint = "it is source code: build it first, or have procfit sweep build its package with --build"
	}
	if pid, err := strconv.Atoi(name); err == nil && pid > 0 {
		hint = "if it is a process: procfit live " + name + " --procs 1,2 tries values in it while it runs"
	}
	if words := strings.Fields(name); len(words) > 1 {
		if _, err := exec.LookPath(words[0]); err == nil {
			hint = "the quotes make it the name of one program: remove them, as in -- " + name
		}
	}
	return "", fmt.Errorf("command %q: %w; %s", name, err, hint)
}

// dedup leaves the last value of each variable: programs disagree on which of
// two they take.
func dedup(env []string) []string {
	seen := map[string]bool{}
	var kept []string
	for _, variable := range slices.Backward(env) {
		name, _, _ := strings.Cut(variable, "=")
		if !seen[name] {
			seen[name] = true
			kept = append(kept, variable)
		}
	}
	slices.Reverse(kept)
	return kept
}
