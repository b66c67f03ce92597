package files

import (
	"bytes"
	"io/fs"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/bench"
	"github.com/procfit/procfit/internal/verdict/page/html"
	"github.com/procfit/procfit/internal/verdict/page/markdown"
)

type file struct {
	name    string // with slashes
	mode    fs.FileMode
	content []byte
}

// Write renders the Result into a directory that exists and returns the paths,
// the one to open first at the head.
func Write(dir string, r *verdict.Result) ([]string, error) {
	list, err := render(r)
	if err != nil {
		return nil, err
	}
	return write(dir, list)
}

func render(r *verdict.Result) ([]file, error) {
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
	return []file{
		{"report.html", folder.Shared, document.Bytes()},
		{"RESULTS.md", folder.Shared, results.Bytes()},
		{"result.json", folder.Shared, result},
		{"bench.txt", folder.Shared, trials.Bytes()},
		{"reproduce.sh", folder.Script, []byte(v.Reproduce)},
	}, nil
}
