package meter

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Target is where a program's control endpoint is: the path of a socket, a URL with the
// prefix that the program mounts it under, or a process ID whose socket is looked for.
type Target struct {
	Name    string
	Headers http.Header // of a URL
	TLS     *tls.Config // of an https URL; nil: the system's certificates
}

// Find makes a client of a target. A search by a process ID ends with ctx, and after 2 seconds.
func (t Target) Find(ctx context.Context) (*Client, error) {
	if pid, err := strconv.Atoi(t.Name); err == nil {
		return ofProcess(ctx, pid)
	}
	if !t.IsURL() {
		return Open(t.Name), nil
	}
	u, err := url.Parse(t.Name)
	if err != nil || u.Host == "" || u.RawQuery != "" {
		return nil, fmt.Errorf("%q: expected a URL with the prefix of the control endpoint, such as http://127.0.0.1:8080/internal/procfit", t.Name)
	}
	return &Client{name: u.Redacted(), base: strings.TrimSuffix(u.String(), "/") + "/", headers: t.Headers, http: http.Client{
		Transport: &http.Transport{TLSClientConfig: t.TLS}, Timeout: slowest, // through no proxy, whose requests a program refuses
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// IsURL reports whether the target is a URL.
func (t Target) IsURL() bool {
	return t.Scheme() == "http" || t.Scheme() == "https"
}

// Scheme is that of a URL, else unix.
func (t Target) Scheme() string {
	for _, s := range []string{"http", "https"} {
		if strings.HasPrefix(t.Name, s+"://") {
			return s
		}
	}
	return "unix"
}
