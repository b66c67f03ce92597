package lab

import (
	"context"
	"embed"
	"fmt"
	"io"
	"strings"

	"github.com/procfit/procfit/internal/lab/programs/cpuserver"
	"github.com/procfit/procfit/internal/lab/programs/tinyserver"
)

//go:embed programs/*/main.go
var sources embed.FS

// Experiment is a practice program and what it is there to show.
type Experiment struct {
	ID       string
	Title    string
	Document string // the document that describes it
	Claim    string // the document's own result

	serve func(ctx context.Context, addr string, stderr io.Writer) error
}

// List is every experiment, in the documents' order.
func List() []Experiment {
	return []Experiment{
		{
			ID:       "cpuserver",
			Title:    "an HTTP server that only computes: SHA-256 over 256 KiB a request",
			Document: "000",
			Claim:    "8 cores, GOMAXPROCS 1 2 4 8 16: 1.00, 1.96, 3.77, 6.51, 6.37 times the throughput of 1",
			serve:    cpuserver.Serve,
		},
		{
			ID:       "tinyserver",
			Title:    "an HTTP server that waits 2 ms, then hashes the body that it was sent",
			Document: "000",
			serve:    tinyserver.Serve,
		},
	}
}

// Serve runs a practice server in this process until ctx ends. The address
// that it listens at stands in its first line on stderr.
func Serve(ctx context.Context, id, addr string, stderr io.Writer) error {
	e, err := find(id)
	if err != nil {
		return err
	}
	if err := e.serve(ctx, addr, stderr); err != nil {
		return fmt.Errorf("practice server %s: %w", id, err)
	}
	return nil
}

// Source is the experiment's program as a standalone main.go.
func Source(id string) (string, error) {
	if _, err := find(id); err != nil {
		return "", err
	}
	b, err := sources.ReadFile("programs/" + id + "/main.go")
	if err != nil {
		return "", fmt.Errorf("source of %s: %w", id, err)
	}
	return standalone(string(b), id)
}

// standalone renames the package to main.
func standalone(source, id string) (string, error) {
	clause := "\npackage " + id + "\n"
	if strings.Count(source, clause) != 1 {
		return "", fmt.Errorf("source of %s: want one line %q", id, strings.TrimSpace(clause))
	}
	return strings.Replace(source, clause, "\npackage main\n", 1), nil
}

func find(id string) (Experiment, error) {
	for _, e := range List() {
		if e.ID == id {
			return e, nil
		}
	}
	return Experiment{}, unknown(id)
}
