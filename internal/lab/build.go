package lab

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed programs/*/*/main.go
var calling embed.FS

// Build is how a stage's program is compiled where the one that procfit holds will not
// do: by the release of Go that procfit is of, with a C compiler. The zero value is the
// experiment's own program as it stands.
type Build struct {
	Source string // another program of the experiment, programs/ID/Source; "": its own
	Race   bool   // with the race detector
}

// Of is the source of the experiment's program as a standalone main.go.
func (b Build) Of(id string) (string, error) {
	if b.Source != "" {
		id += "/" + b.Source
	}
	return Source(id)
}

// part is the source of an experiment's other program, by both their names; false where
// there is none.
func part(name string) (string, bool) {
	id, of, _ := strings.Cut(name, "/")
	if _, err := find(id, Server, Batch); err != nil || !fs.ValidPath(of) {
		return "", false
	}
	text, err := calling.ReadFile("programs/" + id + "/" + of + "/main.go")
	return string(text), err == nil
}
