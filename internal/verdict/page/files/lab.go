package files

import (
	"bytes"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/html"
	"github.com/procfit/procfit/internal/verdict/page/markdown"
)

// WriteLab renders a lab run into its directory: index.html, RESULTS.md, and a page for
// each experiment, in a directory that exists where it was run.
func WriteLab(dir string, o *lab.Outcome) error {
	v := page.NewLab(o)
	var index, results bytes.Buffer
	if err := html.RenderLab(&index, v); err != nil {
		return err
	}
	if err := markdown.RenderLab(&results, v); err != nil {
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
		if err := html.RenderExperiment(&document, v, e); err != nil {
			return err
		}
		list = append(list, folder.File{Name: e.Page, Mode: folder.Shared, Content: document.Bytes()})
	}
	_, err := folder.Write(dir, list...)
	return err
}
