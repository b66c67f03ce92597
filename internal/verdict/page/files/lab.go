package files

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/lab"
	"github.com/procfit/procfit/internal/verdict/page"
	"github.com/procfit/procfit/internal/verdict/page/html"
	"github.com/procfit/procfit/internal/verdict/page/markdown"
)

// LabName is the file that makes a directory a lab run's.
const LabName = "lab.json"

// WriteLab renders a lab run into its directory: index.html, RESULTS.md, lab.json,
// and a page for each experiment, in a directory that exists where it was run. It
// returns the paths, the one to open first at the head.
func WriteLab(dir string, o *lab.Outcome) ([]string, error) {
	v := page.NewLab(o)
	outcome, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the outcome as JSON: %w", err)
	}
	var index, results bytes.Buffer
	if err := html.RenderLab(&index, v); err != nil {
		return nil, err
	}
	if err := markdown.RenderLab(&results, v); err != nil {
		return nil, err
	}
	list := []file{
		{"index.html", folder.Shared, index.Bytes()},
		{"RESULTS.md", folder.Shared, results.Bytes()},
		{LabName, folder.Shared, append(outcome, '\n')},
	}
	named := len(list)
	for _, e := range v.Experiments {
		if e.Page == "" {
			continue
		}
		var document bytes.Buffer
		if err := html.RenderExperiment(&document, v, e); err != nil {
			return nil, err
		}
		list = append(list, file{e.Page, folder.Shared, document.Bytes()})
	}
	paths, err := write(dir, list)
	return paths[:min(named, len(paths))], err
}

// write replaces each file.
func write(dir string, list []file) (paths []string, err error) {
	d, err := folder.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", filepath.Join(dir, list[0].name), err)
	}
	defer d.Close()
	for _, f := range list {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := d.Replace(f.name, f.mode, f.content); err != nil {
			return paths, fmt.Errorf("write %s: %w", path, err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// ReadLab reads the outcome of an earlier run, without its results; os.ErrNotExist
// is in the chain where there is none.
func ReadLab(dir string) (*lab.Outcome, error) {
	path := filepath.Join(dir, LabName)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var o lab.Outcome
	if err := json.Unmarshal(b, &o); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if o.Schema != lab.OutcomeSchema {
		return nil, fmt.Errorf("%s: schema %q, and this procfit reads %q", path, o.Schema, lab.OutcomeSchema)
	}
	return &o, nil
}
