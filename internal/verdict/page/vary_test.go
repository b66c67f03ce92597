package page

import (
	"testing"

	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
)

// A sweep of variables has the pair as its answer, a group for each comparison, and memory
// in the tables.
func TestVaried(t *testing.T) {
	o := text.Options{Width: 100}
	pagetest.Golden(t, "varied.txt", []byte(onTerminal(t, pagetest.Varied(200), o)))
	pagetest.Golden(t, "varied-early.txt", []byte(onTerminal(t, pagetest.Varied(9), o)))
}
