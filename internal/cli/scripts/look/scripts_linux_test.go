package look

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/procfit/procfit/internal/cli"
	"github.com/procfit/procfit/internal/cli/scripts"
)

func TestMain(m *testing.M) { scripts.Main(m, cli.Main, nil) }

func TestScripts(t *testing.T) {
	trace, err := filepath.Abs("../../../trace/exec/testdata/go1.27.1.trace") // a binary cannot be in a script
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(trace); err != nil { // so that go test runs the scripts again when it changes
		t.Fatal(err)
	}
	scripts.Run(t, "testdata", "EXECTRACE="+trace)
}

func TestScriptsAlone(t *testing.T) { scripts.RunAlone(t, "testdata/alone") }
