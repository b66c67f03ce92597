package trace

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/trace/exec"
	"github.com/procfit/procfit/internal/trace/exec/page"
)

type Execution struct {
	Trace *exec.Trace
	Err   error // why it was not read to its end; what was can be shown

	path string
}

// ReadExecution reads an execution trace; path names it, "-" as standard input. It
// fails where there is nothing to show.
func ReadExecution(ctx context.Context, r io.Reader, path string) (*Execution, error) {
	in := newInput(ctx, r)
	defer in.Close()
	t, err := exec.Read(in, exec.Options{})
	if ctx.Err() != nil {
		return nil, context.Canceled
	}
	if err == nil {
		return &Execution{Trace: t, path: path}, nil
	}
	err = fmt.Errorf("%s: %w", phrase.If(path == "-", "standard input", path), err)
	if t.Events == 0 {
		hint := "expected a file from runtime/trace or go test -trace"
		if errors.Is(err, io.ErrUnexpectedEOF) {
			hint = "a trace is written in parts of about a second, and this one has no complete part: call trace.Stop before the program ends"
		}
		return nil, fmt.Errorf("%w; %s", err, hint)
	}
	return &Execution{Trace: t, Err: err, path: path}, nil
}

func (e *Execution) WriteText(w io.Writer, o Text) error {
	return text.Render(w, page.Brief(e.path, e.Trace), o)
}

// executionJSON is procfit.exectrace/v1. The error is null where all was read.
type executionJSON struct {
	Schema string  `json:"schema"`
	Path   string  `json:"path"`
	Error  *string `json:"error"`
	exec.Trace
}

func (e *Execution) WriteJSON(w io.Writer) error {
	out := executionJSON{Schema: "procfit.exectrace/v1", Path: e.path, Trace: *e.Trace}
	if e.Err != nil {
		out.Error = new(e.Err.Error())
	}
	return writeJSON(w, out)
}
