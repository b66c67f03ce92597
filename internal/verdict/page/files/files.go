package files

import (
	"bytes"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/bench"
	"github.com/procfit/procfit/internal/verdict/page/html"
	"github.com/procfit/procfit/internal/verdict/page/markdown"
)

// Write renders the Result into a directory that exists and returns the paths,
// the one to open first at the head.
func Write(dir string, r *verdict.Result) ([]string, error) {
	list, err := render(r)
	if err != nil {
		return nil, err
	}
	return folder.Write(dir, list...)
}

func render(r *verdict.Result) ([]folder.File, error) {
	v := page.New(r)
	var document, results, trials bytes.Buffer
	if err := html.Render(&document, v); err != nil {
		return nil, err
	}
	if err := markdown.Render(&results, v); err != nil {
		return nil, err
	}
	if err := bench.Write(&trials, r); err != nil {
		return nil, err
	}
	result, err := page.JSON(r)
	if err != nil {
		return nil, err
	}
	return []folder.File{
		{Name: "report.html", Mode: folder.Shared, Content: document.Bytes()},
		{Name: "RESULTS.md", Mode: folder.Shared, Content: results.Bytes()},
		{Name: "result.json", Mode: folder.Shared, Content: result},
		{Name: "bench.txt", Mode: folder.Shared, Content: trials.Bytes()},
		{Name: "reproduce.sh", Mode: folder.Script, Content: []byte(v.Reproduce)},
	}, nil
}
