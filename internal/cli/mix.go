package cli

import (
	"bytes"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/requests"
	"github.com/procfit/procfit/internal/program/target"
)

// readMix reads what is sent to one server: a URL, several of them with weights, or
// requests from a file for the address of one.
func readMix(urls []string, file string, std stdio) (base string, mix []load.Request, err error) {
	switch {
	case file != "" && len(urls) == 0:
		return "", nil, usageError("--requests needs --url, the server's address")
	case len(urls) == 0:
		return "", nil, nil
	}
	if _, mix, err = requests.FromURLs(target.ExpandPort(urls, 1)); err != nil {
		return "", nil, usageError("--url %w", err)
	}
	base = requests.Unweighted(urls[0])
	if file == "" {
		return base, mix, nil
	}
	if len(urls) > 1 {
		return "", nil, usageError("--requests and several URLs exclude each other: both say what is sent")
	}
	mix, err = readRequests(file, std)
	return base, mix, err
}

// readRequests reads --requests.
func readRequests(file string, std stdio) ([]load.Request, error) {
	b, err := readInput("requests", file, requests.MostFile, std)
	if err != nil {
		return nil, err
	}
	r := requests.Reader{ReadFile: func(name string) ([]byte, error) { return folder.ReadRegular(name, requests.MostBody) }}
	list, err := r.Read(bytes.NewReader(b))
	if err != nil {
		return nil, usageError("--requests %s: %w", file, err)
	}
	return list, nil
}
