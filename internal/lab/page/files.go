package page

import (
	"bytes"
	"embed"
	"io"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/html"
)

//go:embed *.html *.css
var templates embed.FS

// experimentPage is one experiment with what its page shares with the index.
type experimentPage struct {
	Experiment
	Started     string
	Environment []page.Pair
}

func renderIndex(out io.Writer, v *Lab) error {
	return html.Execute(out, templates, "index.html", v)
}

func renderExperiment(out io.Writer, v *Lab, e Experiment) error {
	return html.Execute(out, templates, "experiment.html", experimentPage{e, v.Started, v.Environment})
}

// Write renders a lab run into its directory: index.html, RESULTS.md, and a page for
// each experiment, in a directory that exists where it was run.
func Write(dir string, o *lab.Outcome) error {
	v := New(o)
	var index, results bytes.Buffer
	if err := renderIndex(&index, v); err != nil {
		return err
	}
	if err := Markdown(&results, v); err != nil {
		return err
	}
	list := []folder.File{
		{Name: "index.html", Mode: folder.Shared, Content: index.Bytes()},
		{Name: "RESULTS.md", Mode: folder.Shared, Content: results.Bytes()},
	}
	for _, e := range v.Experiments {
		if e.Page == "" {
			continue
		}
		var document bytes.Buffer
		if err := renderExperiment(&document, v, e); err != nil {
			return err
		}
		list = append(list, folder.File{Name: e.Page, Mode: folder.Shared, Content: document.Bytes()})
	}
	_, err := folder.Write(dir, list...)
	return err
}
