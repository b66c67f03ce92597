// Package recipes runs what deploy and templates offer for continuous integration: workflows,
// the action, hooks and scripts.
package recipes

import (
	"testing"

	"github.com/procfit/procfit/internal/cli"
	"github.com/procfit/procfit/internal/cli/scripts"
)

func TestMain(m *testing.M) { scripts.Main(m, cli.Main, nil) }
