package files

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/procfit/procfit/internal/report"
	"github.com/procfit/procfit/internal/report/bench"
	"github.com/procfit/procfit/internal/report/html"
	"github.com/procfit/procfit/internal/report/markdown"
	"github.com/procfit/procfit/internal/stat"
)

type file struct {
	name    string
	mode    os.FileMode
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
		{"report.html", 0o644, page.Bytes()},
		{"RESULTS.md", 0o644, results.Bytes()},
		{"result.json", 0o644, result},
		{"bench.txt", 0o644, trials.Bytes()},
		{"reproduce.sh", 0o755, []byte(v.Reproduce)},
	}, nil
}

// replace writes beside the file and renames over it.
func replace(path string, mode os.FileMode, content []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(content); err != nil {
		return err
	}
	if err = f.Chmod(mode); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
