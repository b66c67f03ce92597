package profile

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
)

// Client gets the profiles that a program serves.
type Client struct {
	base    string
	headers http.Header
	http    http.Client
	patient time.Duration // for an answer, beyond the time that is asked for
}

// patience is how long an answer may take. Before it answers with its memory, a program
// runs its garbage collector.
const patience = 15 * time.Second

// NewClient makes a client of the profiles below a URL. Headers are texts with a colon. It
// asks nothing yet.
func NewClient(base string, headers []string, secure *tls.Config) *Client {
	c := &Client{base: strings.TrimSuffix(base, "/") + "/", headers: http.Header{"User-Agent": {"procfit"}}, patient: patience}
	for _, h := range headers {
		if name, value, ok := strings.Cut(h, ":"); ok {
			c.headers.Add(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	c.headers.Del("Accept-Encoding") // of the load: a profile is packed already
	c.http = http.Client{
		// Another server's profile would be taken for the program's.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     &http.Transport{TLSClientConfig: secure, DisableKeepAlives: true, DisableCompression: true},
	}
	return c
}

// CPU is the CPU profile of the next seconds.
func (c *Client) CPU(ctx context.Context, seconds int) ([]byte, error) {
	return c.get(ctx, fmt.Sprintf("profile?seconds=%d", seconds), time.Duration(seconds)*time.Second)
}

// Memory is the profile of all that was allocated since the program's start. A collection
// comes first, since a profile holds what was allocated before the last one.
func (c *Client) Memory(ctx context.Context) ([]byte, error) { return c.get(ctx, "heap?gc=1", 0) }

func (c *Client) wrong(name string, err error) error {
	return fmt.Errorf("%s: %w", secret.Text(c.base+name), err)
}

// get asks for a profile that takes so long to make.
func (c *Client) get(ctx context.Context, what string, takes time.Duration) ([]byte, error) {
	name, _, _ := strings.Cut(what, "?")
	ctx, cancel := context.WithTimeout(ctx, takes+c.patient)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+what, nil)
	if err != nil {
		return nil, c.wrong(name, errors.New("it is not a URL"))
	}
	r.Header, r.Host = c.headers.Clone(), c.headers.Get("Host")
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, c.unreached(name, err, takes)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, c.wrong(name, fmt.Errorf("it answered %s%s", phrase.Clean(answer.Status), said(answer)))
	}
	b, err := io.ReadAll(io.LimitReader(answer.Body, mostBytes+1))
	switch {
	case err != nil:
		return nil, c.unreached(name, err, takes)
	case len(b) > mostBytes:
		return nil, c.wrong(name, errTooLarge())
	case strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html"):
		return nil, c.wrong(name, errors.New("it answered with a web page, and not with a profile"))
	}
	return b, nil
}

// mostSaid is how much is quoted of what a program answers in place of a profile.
const mostSaid = 100

// said is the first line of a refusal. net/http/pprof has the reason there: "Could not
// enable CPU profiling: cpu profiling already in use".
func said(answer *http.Response) string {
	if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/plain") {
		return ""
	}
	b, _ := io.ReadAll(io.LimitReader(answer.Body, 4*mostSaid))
	line := phrase.Clip(phrase.Clean(strings.TrimSpace(phrase.FirstLine(string(b)))), mostSaid)
	if line == "" {
		return ""
	}
	return ` ("` + line + `")`
}

// unreached says why there was no answer, or not all of it.
func (c *Client) unreached(name string, err error, takes time.Duration) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	if timeout := (net.Error)(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return c.wrong(name, fmt.Errorf("no answer within %s", number.Minutes(takes+c.patient)))
	}
	if bad := (*tls.CertificateVerificationError)(nil); errors.As(err, &bad) {
		return c.wrong(name, errors.New("its certificate is not trusted; --tls ca=FILE trusts the CA that signed it"))
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) { // without the URL, which the message has already
		err = inner
		if _, ok := err.(*net.OpError); ok {
			break
		}
	}
	return c.wrong(name, plain{err})
}

// plain is an error in words without Go's.
type plain struct{ error }

func (p plain) Error() string { return phrase.Plain(p.error) }
func (p plain) Unwrap() error { return p.error }
