// Package ready asks whether a server is ready to be loaded, by a Probe: an HTTP
// answer, a connection, the gRPC health service, or the user's own command.
//
// # What counts
//
//   - A URL of http, https or h2c: any answer below 500, redirects and 404 too, as
//     its paths are not known; or the statuses that the Probe names. At http, the
//     frame with which a server of HTTP/2 alone begins counts too, unless statuses
//     are named: then it is asked again in HTTP/2. A certificate is not verified:
//     the load verifies for itself, and credentials of the URL are sent only where
//     statuses are named. A refusal in TLS, as
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
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
)

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
	p.URL = fill.Replace(cmp.Or(p.URL, loaded))
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
	address, _ := p.address()
	return address
}

func (p Probe) speaksHTTP(loaded string) bool {
	scheme, _, _ := strings.Cut(cmp.Or(p.URL, loaded), "://")
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

// attemptLimit lets a first answer take its time, but not a connection that a
// half-started server lost. A command may take as long as there is.
const attemptLimit = 5 * time.Second

// Answer is what one attempt came to.
type Answer struct {
	Ready     bool
	Connected bool            // a connection was accepted
	Status    string          // what was answered: "503 Service Unavailable", "NOT_SERVING"; empty: nothing
	Exit      supervisor.Exit // of a command that ended
	Ran       bool            // it did
	Said      supervisor.Quote
	Err       error // why it is not ready
}

// Asker makes the attempts of one probe, for one goroutine at a time.
type Asker struct {
	Probe   Probe
	Environ []string // of a command

	url     *url.URL
	address string
	http2   bool      // it has shown that it speaks nothing else, without TLS
	faulty  time.Time // when it first ended a handshake for a fault of its own; zero: it has not
}

// NewAsker makes an Asker of a probe that For has filled in.
func NewAsker(p Probe, environ []string) (*Asker, error) {
	a := &Asker{Probe: p, Environ: environ}
	if p.Way == WayCommand {
		return a, nil
	}
	var err error
	if a.address, err = p.address(); err != nil {
		return nil, err
	}
	a.url, err = url.Parse(p.URL)
	return a, err
}

func (a *Asker) Ask(ctx context.Context) Answer {
	if a.Probe.Way == WayCommand {
		return a.run(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, attemptLimit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", a.address)
	if err != nil {
		return Answer{Err: err}
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	answer := a.over(ctx, conn)
	answer.Connected = true
	return answer
}

func (a *Asker) over(ctx context.Context, conn net.Conn) Answer {
	switch scheme := a.url.Scheme; {
	case a.Probe.Way == WayTCP:
		return Answer{Ready: true}
	case a.Probe.Way == WayGRPC, scheme == schemeGRPC, scheme == schemeGRPCS:
		return a.health(ctx, conn)
	case scheme == schemeHTTPS:
		return a.getTLS(ctx, conn)
	case scheme == schemeH2C, scheme == schemeHTTP && a.http2:
		return a.getHTTP2(ctx, conn)
	case scheme == schemeHTTP:
		return a.get(conn)
	}
	return Answer{Ready: true}
}

// Health asks the gRPC health service of the whole server, on a connection that is open.
// Package health has one.
type Health interface {
	// Ask returns no error if the server serves, or has no health service. status is the
	// one that it answered where it does not; secure is nil without TLS.
	Ask(ctx context.Context, conn net.Conn, address string, secure *tls.Config) (status string, err error)
}

func (a *Asker) health(ctx context.Context, conn net.Conn) Answer {
	if a.Probe.Health == nil {
		return Answer{Err: errors.New("the gRPC health service cannot be asked here")}
	}
	var how *tls.Config
	if a.url.Scheme == schemeHTTPS || a.url.Scheme == schemeGRPCS {
		how = a.insecure()
	}
	status, err := a.Probe.Health.Ask(ctx, conn, a.address, how)
	return Answer{Ready: err == nil, Status: status, Err: err}
}

func (a *Asker) run(ctx context.Context) Answer {
	const kept, lines = 64 << 10, 5
	out, err := supervisor.Run(ctx, supervisor.Spec{Command: a.Probe.Command, Env: a.Environ, LogLimit: kept})
	if err != nil {
		return Answer{Err: err}
	}
	said := supervisor.QuoteOutput(append(out.Stdout, out.Stderr...), lines)
	return Answer{Ready: !out.Exit.Failed(), Exit: out.Exit, Ran: true, Said: said}
}
