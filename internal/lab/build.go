package lab

import (
	"embed"
	"fmt"
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
	if b.Source == "" {
		return Source(id)
	}
	if _, err := find(id, Server, Batch); err != nil {
		return "", err
	}
	text, err := calling.ReadFile("programs/" + id + "/" + b.Source + "/main.go")
	if err != nil {
		return "", fmt.Errorf("source of %s: %w", id, err)
	}
	return string(text), nil
}
