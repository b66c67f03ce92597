package page

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/canary"
	"github.com/procfit/procfit/internal/verdict/page/bench"
)

// Write renders the Result into a directory that exists and returns the paths, the one to
// open first at the head. All of them are there afterwards, or none is changed.
func Write(dir string, r *verdict.Result) ([]string, error) {
	list, err := files(r)
	if err != nil {
		return nil, err
	}
	return folder.Write(dir, list...)
}

// WriteFailure writes the page of a sweep that has no verdict, and returns its path.
func WriteFailure(dir string, f *Failure) ([]string, error) {
	report, err := html.Render(f.Document())
	if err != nil {
		return nil, err
	}
	return folder.Write(dir, folder.File{Name: "report.html", Mode: folder.Shared, Content: report})
}

func files(r *verdict.Result) ([]folder.File, error) {
	v := New(r)
	result, err := JSON(r)
	if err != nil {
		return nil, err
	}
	list, err := published(v.Report(), result)
	if err != nil {
		return nil, err
	}
	var trials bytes.Buffer
	if err := bench.Write(&trials, r); err != nil {
		return nil, err
	}
	return append(list,
		folder.File{Name: "bench.txt", Mode: folder.Shared, Content: trials.Bytes()},
		folder.File{Name: "reproduce.sh", Mode: folder.Script, Content: []byte(v.Reproduce)}), nil
}

// published is a document in both of its forms, and the result that it is of.
func published(d *document.Document, result []byte) ([]folder.File, error) {
	report, err := html.Render(d)
	if err != nil {
		return nil, err
	}
	return []folder.File{
		{Name: "report.html", Mode: folder.Shared, Content: report},
		{Name: "RESULTS.md", Mode: folder.Shared, Content: markdown.Render(d)},
		{Name: "result.json", Mode: folder.Shared, Content: result},
	}, nil
}

// WriteCanary renders what a canary came to into its directory and returns the paths, the
// one to open first at the head.
func WriteCanary(dir string, r *canary.Result) ([]string, error) {
	result, err := CanaryJSON(r)
	if err != nil {
		return nil, err
	}
	_, report := Canary(r)
	list, err := published(report, result)
	if err != nil {
		return nil, err
	}
	return folder.Write(dir, list...)
}

// CanaryJSON is result.json.
func CanaryJSON(r *canary.Result) ([]byte, error) {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the canary's result as JSON: %w", err)
	}
	return append(b, '\n'), nil
}
