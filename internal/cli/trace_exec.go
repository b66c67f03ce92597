package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/procfit/procfit/internal/exectrace"
	"github.com/procfit/procfit/internal/exectrace/svg"
	"github.com/procfit/procfit/internal/exectrace/text"
)

// exectraceJSON is procfit.exectrace/v1. The error is null where all was read.
type exectraceJSON struct {
	Schema string  `json:"schema"`
	Path   string  `json:"path"`
	Error  *string `json:"error"`
	*exectrace.Trace
}

// runExec shows the execution trace in a file, or on standard input.
func (o *traceOptions) runExec(ctx context.Context, io stdio) error {
	in := io.in
	if o.exec != "-" {
		f, err := openFile(o.exec)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	return showExecTrace(ctx, io, in, o.exec, o.svg, o.json)
}

// showExecTrace reads an execution trace, prints it, as JSON or for a terminal,
// and draws it where drawing names a file. Of one that cannot be read to its end
// it shows what it could read, and returns why.
func showExecTrace(ctx context.Context, to stdio, in io.Reader, path, drawing string, asJSON bool) error {
	t, readErr := exectrace.Read(&interruptible{ctx: ctx, r: in}, exectrace.Options{})
	if ctx.Err() != nil {
		return interrupted(context.Canceled)
	}
	if readErr != nil {
		if path == "-" {
			path = "standard input"
		}
		readErr = fmt.Errorf("%s: %w", path, readErr)
		if t.Events == 0 {
			hint := "want what runtime/trace or go test -trace wrote"
			if errors.Is(readErr, io.ErrUnexpectedEOF) {
				hint = "a trace is read by parts of a second or so, whole ones only, and this holds none: call trace.Stop before the program ends"
			}
			return fmt.Errorf("%w; %s", readErr, hint)
		}
	}
	return errors.Join(printExecTrace(to, t, readErr, path, drawing, asJSON), readErr)
}

func printExecTrace(io stdio, t *exectrace.Trace, readErr error, path, drawing string, asJSON bool) error {
	var files []string
	if drawing != "" {
		var b bytes.Buffer
		if err := svg.Render(&b, t); err != nil {
			return err
		}
		if err := os.WriteFile(drawing, b.Bytes(), 0o644); err != nil {
			return fmt.Errorf("--svg: %w", err)
		}
		files = append(files, drawing)
	}
	if asJSON {
		out := exectraceJSON{Schema: "procfit.exectrace/v1", Path: path, Trace: t}
		if readErr != nil {
			said := readErr.Error()
			out.Error = &said
		}
		return writeJSON(io.out, out)
	}
	return text.Render(io.out, t, text.Options{Width: width(io), Color: io.color(), Files: files})
}
