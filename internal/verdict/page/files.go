package page

import (
	"bytes"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page/bench"
)

// Write renders the Result into a directory that exists and returns the paths, the one to
// open first at the head. All of them are there afterwards, or none is changed.
func Write(dir string, r *verdict.Result) ([]string, error) {
	result, err := JSON(r)
	if err != nil {
		return nil, err
	}
	whole := Report(r)
	report, err := html.Render(whole)
	if err != nil {
		return nil, err
	}
	list := []folder.File{
		{Name: "report.html", Mode: folder.Shared, Content: report},
		{Name: "RESULTS.md", Mode: folder.Shared, Content: markdown.Render(whole)},
		{Name: "result.json", Mode: folder.Shared, Content: result},
		{Name: "reproduce.sh", Mode: folder.Script, Content: []byte(reproduce(r))},
	}
	if s := r.Settings; s != nil {
		list = append(list, folder.File{Name: s.Name, Mode: folder.Shared, Content: s.Text})
	}
	if r.Canary == nil && r.Live == nil { // whose slices are no benchmarks
		var trials bytes.Buffer
		if err := bench.Write(&trials, r); err != nil {
			return nil, err
		}
		list = append(list, folder.File{Name: "bench.txt", Mode: folder.Shared, Content: trials.Bytes()})
	}
	return folder.Write(dir, list...)
}
