package files

import (
	"bytes"
	"io/fs"

	"github.com/procfit/procfit/internal/folder"
	"github.com/procfit/procfit/internal/report"
	"github.com/procfit/procfit/internal/report/bench"
	"github.com/procfit/procfit/internal/report/html"
	"github.com/procfit/procfit/internal/report/markdown"
	"github.com/procfit/procfit/internal/stat"
)

type file struct {
	name    string // with slashes
	mode    fs.FileMode
	content []byte
}

// Write renders the Result into a directory that exists and returns the paths,
// the one to open first at the head.
func Write(dir string, r *stat.Result) ([]string, error) {
	list, err := render(r)
	if err != nil {
		return nil, err
	}
	return write(dir, list)
}

func render(r *stat.Result) ([]file, error) {
	v := report.New(r)
	var page, results, trials bytes.Buffer
	if err := html.Render(&page, v); err != nil {
		return nil, err
	}
	if err := markdown.Render(&results, v); err != nil {
		return nil, err
	}
	if err := bench.Write(&trials, r); err != nil {
		return nil, err
	}
	result, err := report.JSON(r)
	if err != nil {
		return nil, err
	}
	return []file{
		{"report.html", folder.Shared, page.Bytes()},
		{"RESULTS.md", folder.Shared, results.Bytes()},
		{"result.json", folder.Shared, result},
		{"bench.txt", folder.Shared, trials.Bytes()},
		{"reproduce.sh", folder.Script, []byte(v.Reproduce)},
	}, nil
}
