package lab

import (
	"testing"

	"github.com/procfit/procfit/internal/cli"
	"github.com/procfit/procfit/internal/cli/scripts"
)

func TestMain(m *testing.M) { scripts.Main(m, cli.Main, nil) }

func TestScripts(t *testing.T) { scripts.Run(t, "testdata") }

func TestScriptsAlone(t *testing.T) { scripts.RunAlone(t, "testdata/alone") }
