package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// Each command has a page, which a terminal shows without complaint.
func TestManPages(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "man1")
	must.OK(t, write(folder))
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	if err != nil || len(pages) < 25 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	sweep, err := os.ReadFile(filepath.Join(folder, "procfit-sweep.1"))
	if err != nil || !bytes.Contains(sweep, []byte("--procs")) || !bytes.Contains(sweep, []byte(`{connections}`)) {
		t.Errorf("the page of sweep lacks a flag, or what is known of it: %v\n%s", err, sweep)
	}
	groff := need.Command(t, "groff")
	for _, page := range pages {
		shown, err := exec.Command(groff, "-k", "-man", "-Tutf8", "-P-cbou", "-ww", "-rLL=78n", page).CombinedOutput()
		if err != nil || bytes.Contains(shown, []byte("warning:")) {
			t.Errorf("%s: %v\n%s", filepath.Base(page), err, shown)
		}
	}
}
