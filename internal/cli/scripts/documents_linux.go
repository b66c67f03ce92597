package scripts

import (
	"io"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/procfit/procfit/internal/cli/schematest"
)

// stdoutDir is the variable with the folder for the JSON that a procfit of a script prints.
const stdoutDir = "PROCFIT_TEST_STDOUT"

// validating has every document validated that a script leaves or prints.
func validating(t *testing.T, env *testscript.Env) error {
	known, err := schematest.Load()
	if err != nil {
		return err
	}
	printed, err := os.MkdirTemp("", "procfit-stdout")
	if err != nil {
		return err
	}
	env.Setenv(stdoutDir, printed)
	env.Defer(func() {
		defer os.RemoveAll(printed)
		for _, dir := range []string{env.WorkDir, printed} {
			if err := known.CheckFolder(dir); err != nil {
				t.Errorf("a document that is not as its schema says: %v", err)
			}
		}
	})
	return nil
}

// copying is standard output, of which what may be a document is kept too.
func copying(out *os.File) io.Writer {
	dir := os.Getenv(stdoutDir)
	if info, err := out.Stat(); dir == "" || err != nil || info.Mode()&os.ModeCharDevice != 0 {
		return out
	}
	return &copied{out: out, dir: dir}
}

type copied struct {
	out     io.Writer
	dir     string
	started bool
	copy    *os.File // nil: it is not JSON
}

func (p *copied) Write(b []byte) (int, error) {
	if !p.started && len(b) > 0 {
		p.started = true
		if b[0] == '{' {
			p.copy, _ = os.CreateTemp(p.dir, "*.json")
		}
	}
	if p.copy != nil {
		_, _ = p.copy.Write(b)
	}
	return p.out.Write(b)
}
