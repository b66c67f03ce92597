// Site renders the documentation as a folder of HTML pages:
//
//	go run ./docs/site [-out DIR]
//
// Its pages are README.md and each Markdown file below docs that begins with a heading; a
// folder of docs is a drawer of the navigation. The pages need no server and ask no other
// host for anything: they can be read from the folder. A broken link is an error with the
// file and the line that it is in.
//
// It is a module of its own, so that its Markdown parser is no dependency of the tool. It
// builds only within the workspace.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the repository's `DIR`")
	out := flag.String("out", "site", "the `DIR` that the pages are written to")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "site: unexpected argument %q; the pages go to -out DIR\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := build(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// build renders the repository's documentation into the folder.
func build(root, out string) error {
	s, err := read(os.DirFS(root))
	if err != nil {
		return fmt.Errorf("site: %w", err)
	}
	broken := s.connect()
	files, err := s.render()
	if err != nil {
		return err
	}
	for name, content := range files {
		name = filepath.Join(out, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, content, 0o644)); err != nil {
			return fmt.Errorf("site: %w", err)
		}
	}
	size := 0
	for _, content := range files {
		size += len(content)
	}
	fmt.Printf("%d pages, %d files, %d KB: %s\n", len(s.pages), len(files), size/1000, filepath.Join(out, "index.html"))
	return broken // the pages are there, so that their author can look at them
}
