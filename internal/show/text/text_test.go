package text_test

import (
	"bytes"
	"testing"

	"github.com/procfit/procfit/internal/show/document/documenttest"
	"github.com/procfit/procfit/internal/show/text"
)

func TestGolden(t *testing.T) {
	for name, o := range map[string]text.Options{
		"example.txt":  {Width: 80, Files: []string{"results/x/report.html", "results/x/RESULTS.md"}},
		"narrow.txt":   {Width: 36},
		"example.ansi": {Width: 80, Color: true},
	} {
		var b bytes.Buffer
		if err := text.Render(&b, documenttest.Example(), o); err != nil {
			t.Fatal(err)
		}
		documenttest.Golden(t, name, b.Bytes())
	}
}
