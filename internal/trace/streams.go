package trace

import (
	"io"
	"os"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
)

// pipes are our ends of the command's output and error.
type pipes struct{ out, err *os.File }

func (p *pipes) close() {
	for _, f := range []*os.File{p.out, p.err} {
		if f != nil {
			f.Close()
		}
	}
}

func (p *pipes) deadline(t time.Time) {
	for _, f := range []*os.File{p.out, p.err} {
		if f != nil {
			_ = f.SetReadDeadline(t)
		}
	}
}

// passOutput shows the command's standard output until its end.
func (p *pipes) passOutput(to io.Writer) {
	if p.out != nil {
		_, _ = io.Copy(to, p.out) // one that cannot be shown must not stop the command
		_, _ = io.Copy(io.Discard, p.out)
	}
}

// streams are the command's: our standard input where that is a file, and pipes.
func (c Command) streams() (*supervisor.Streams, *pipes, error) {
	s, ours := &supervisor.Streams{}, &pipes{}
	err := func() (err error) {
		if ours.err, s.Err, err = os.Pipe(); err != nil {
			return err
		}
		if c.Quiet {
			s.Out, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		} else {
			ours.out, s.Out, err = os.Pipe()
		}
		if err != nil {
			return err
		}
		if f, ok := c.In.(*os.File); ok {
			s.In = f
			return nil
		}
		s.In, err = os.Open(os.DevNull)
		return err
	}()
	if err != nil {
		closeStreams(s, c.In)
		ours.close()
		return nil, nil, err
	}
	return s, ours, nil
}

// closeStreams closes the command's ends, but for what is our own input.
func closeStreams(s *supervisor.Streams, own io.Reader) {
	for _, f := range []*os.File{s.In, s.Out, s.Err} {
		if f != nil && own != io.Reader(f) {
			f.Close()
		}
	}
}
