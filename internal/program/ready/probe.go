// Package ready asks whether a server is ready to be loaded, by a Probe: an HTTP
// answer, a connection, the gRPC health service, or the user's own command.
//
// # What counts
//
//   - A URL of http, https or h2c: any answer below 500, redirects and 404 too, as
//     its paths are not known; or the statuses that the Probe names. At http, the
//     frame with which a server of HTTP/2 alone begins counts too, unless statuses
//     are named: then it is asked again in HTTP/2. A certificate is not verified:
//     nothing secret is sent, and the load verifies for itself. A refusal in TLS, as
//     for want of a client's certificate, is an answer, unless statuses are named; that
//     for an internal error, as of a server that has no certificate yet, is one when it
//     has lasted for three seconds.
//   - gRPC: SERVING for the whole server (grpc.health.v1, service ""). A server
//     without the health service answers UNIMPLEMENTED: it serves, and counts. So
//     do UNAUTHENTICATED and PERMISSION_DENIED.
//   - TCP, and a URL of any other scheme: a connection that is accepted.
//   - A command: exit code 0. It is run again until then, and may itself wait.
//
// Each attempt is over a connection of its own, and sends nothing but a GET without
// headers of the user's.
package ready

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Way is how a server is asked.
type Way string

const (
	WayURL     Way = "" // by its URL's scheme
	WayTCP     Way = "tcp"
	WayGRPC    Way = "grpc"
	WayCommand Way = "command"
)

// The schemes of URL that are not asked by a mere connection.
const (
	schemeHTTP  = "http"
	schemeHTTPS = "https"
	schemeH2C   = "h2c"
	schemeGRPC  = "grpc"
	schemeGRPCS = "grpcs"
)

// Probe is how a server is asked. The zero value asks the URL that is loaded.
type Probe struct {
	Way      Way
	URL      string   // of WayURL; empty: the one that is loaded
	Command  []string // of WayCommand
	Statuses Statuses // of HTTP, that count; empty: any below 500
	Health   Health   // for gRPC; it links gRPC, and who starts servers that may speak it hands it in
}

// Parse reads tcp, grpc or a URL; anything else is a command, whose words the caller
// has to split.
func Parse(text string) (p Probe, command bool) {
	switch scheme, _, isURL := strings.Cut(text, "://"); {
	case text == string(WayTCP), text == string(WayGRPC):
		return Probe{Way: Way(text)}, false
	case isURL && isScheme(scheme):
		return Probe{URL: text}, false
	}
	return Probe{Way: WayCommand}, true
}

// isScheme tells a URL's scheme from a command with a URL in it.
func isScheme(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+-.", r))
	})
}

// For is the probe of one server, which is loaded at the URL: its words are filled in.
func (p Probe) For(loaded string) (Probe, error) {
	u, err := url.Parse(loaded)
	if err != nil {
		return Probe{}, fmt.Errorf("%q is not a URL: %w", loaded, err)
	}
	fill := strings.NewReplacer("{url}", loaded, "{host}", u.Hostname(), "{port}", u.Port())
	p.Command = slices.Clone(p.Command)
	for i := range p.Command {
		p.Command[i] = fill.Replace(p.Command[i])
	}
	if p.URL == "" {
		p.URL = loaded
	}
	p.URL = fill.Replace(p.URL)
	if p.Way == WayCommand {
		return p, nil
	}
	_, err = p.address()
	return p, err
}

// String is what is asked, for an error.
func (p Probe) String() string {
	if p.Way == WayCommand {
		return strconv.Quote(strings.Join(p.Command, " "))
	}
	return p.URL
}

// address is the host and the port that are asked.
func (p Probe) address() (string, error) {
	u, err := url.Parse(p.URL)
	if err != nil || u.Hostname() == "" {
		return "", fmt.Errorf("%q is not a URL to wait for, such as http://127.0.0.1:8080/", p.URL)
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == schemeHTTP, u.Scheme == schemeH2C:
		port = "80"
	case u.Scheme == schemeHTTPS:
		port = "443"
	default:
		return "", fmt.Errorf("%q names no port to wait at: write one, for example %s://127.0.0.1:8080", p.URL, u.Scheme)
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// Address is the host and port that a probe with a URL of its own asks; empty where
// it has none.
func (p Probe) Address() string {
	if p.Way == WayCommand {
		return ""
	}
	address, err := p.address()
	if err != nil {
		return ""
	}
	return address
}

// speaksHTTP reports whether an answer of the probe has a status.
func (p Probe) speaksHTTP(loaded string) bool {
	raw := p.URL
	if raw == "" {
		raw = loaded
	}
	scheme, _, _ := strings.Cut(raw, "://")
	return p.Way == WayURL && slices.Contains([]string{schemeHTTP, schemeHTTPS, schemeH2C}, strings.ToLower(scheme))
}

// Check says what is wrong with a probe for a server that is loaded at the URL.
func (p Probe) Check(loaded string) error {
	if len(p.Statuses) > 0 && !p.speaksHTTP(loaded) {
		return fmt.Errorf("statuses are of HTTP, and %s gives none", p.way())
	}
	_, err := p.For(loaded)
	return err
}

func (p Probe) way() string {
	switch p.Way {
	case WayTCP:
		return "a TCP connection"
	case WayGRPC:
		return "the gRPC health service"
	case WayCommand:
		return "a command"
	}
	return "this scheme"
}
