package page

import (
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/markdown"
)

// Write renders a lab run into its directory: index.html, RESULTS.md, and a page for
// each experiment, in a directory that exists where it was run.
func Write(dir string, o *lab.Outcome) error {
	v := New(o)
	index, err := html.Render(v.Index())
	if err != nil {
		return err
	}
	list := []folder.File{
		{Name: "index.html", Mode: folder.Shared, Content: index},
		{Name: "RESULTS.md", Mode: folder.Shared, Content: markdown.Render(v.Results())},
	}
	for i := range v.Experiments {
		e := &v.Experiments[i]
		if e.Page == "" {
			continue
		}
		content, err := html.Render(v.Page(e))
		if err != nil {
			return err
		}
		list = append(list, folder.File{Name: e.Page, Mode: folder.Shared, Content: content})
	}
	_, err = folder.Write(dir, list...)
	return err
}
