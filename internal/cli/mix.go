package cli

import (
	"bytes"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/requests"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/target"
)

// readURLs reads --url and --requests into the Spec's load, and returns the address. A
// method before the only URL is that of its requests.
func readURLs(f *plan.Flags, spec *plan.Spec, urls []string, std stdio) (base string, err error) {
	if len(urls) == 1 && f.Requests == "" {
		method, rest := requests.Method(urls[0])
		spec.Load.Method, urls = method, []string{rest}
	}
	base, spec.Load.Requests, err = readMix(urls, f.Requests, std)
	return base, err
}

// readMix reads what is sent to one server: a URL, several of them with weights, or
// requests from a file for the address of one.
func readMix(urls []string, file string, std stdio) (base string, mix []load.Request, err error) {
	switch {
	case file != "" && len(urls) == 0:
		return "", nil, usageError("--requests needs --url, the address of the server")
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
		return "", nil, usageError("use only one of --requests and several --url")
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
