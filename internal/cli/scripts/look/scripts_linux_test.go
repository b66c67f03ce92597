package look

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/procfit/procfit/internal/cli"
	"github.com/procfit/procfit/internal/cli/scripts"
	"github.com/procfit/procfit/test/must"
)

func TestMain(m *testing.M) { scripts.Main(m, cli.Main, nil) }

func TestScripts(t *testing.T) {
	// A binary cannot be in a script. It is looked at so that go test runs the scripts again when it changes.
	trace := must.Get(filepath.Abs("../../../trace/exec/testdata/go1.27.1.trace"))(t)
	must.Get(os.Stat(trace))(t)
	scripts.Run(t, "testdata", "EXECTRACE="+trace)
}

func TestScriptsAlone(t *testing.T) { scripts.RunAlone(t, "testdata/alone") }
