package ready

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"

	"github.com/procfit/procfit/internal/show/secret"
)

// answerLimit bounds what is read of an answer; only its head is looked at.
const answerLimit = 64 << 10

const alpnHTTP2 = "h2"

// insecure is TLS for readiness alone: see the package's comment.
func (a *Asker) insecure(protocols ...string) *tls.Config {
	return &tls.Config{ServerName: a.url.Hostname(), InsecureSkipVerify: true, NextProtos: protocols}
}

// getTLS asks over TLS, in what the server chooses of HTTP/1.1 and HTTP/2.
func (a *Asker) getTLS(ctx context.Context, conn net.Conn) Answer {
	secure := tls.Client(conn, a.insecure(alpnHTTP2, "http/1.1"))
	if err := secure.HandshakeContext(ctx); err != nil {
		return Answer{Ready: a.lenient() && refusedByTLS(err) && !a.unsettled(err), Err: err}
	}
	var answer Answer
	if secure.ConnectionState().NegotiatedProtocol == alpnHTTP2 {
		answer = a.getHTTP2(ctx, secure)
	} else {
		answer = a.get(secure)
	}
	answer.Ready = answer.Ready || a.lenient() && refusedByTLS(answer.Err)
	return answer
}

// lenient reports whether any sign of life counts, as no statuses are named.
func (a *Asker) lenient() bool { return len(a.Probe.Statuses) == 0 }

// refusedByTLS tells an alert that the server sent: it is up, and wants something
// that we do not offer.
func refusedByTLS(err error) bool {
	remote, ok := errors.AsType[*net.OpError](err)
	return ok && remote.Op == "remote error"
}

// settling is how long a server may take that ends handshakes for a fault of its own, as
// one does that has no certificate yet. One that goes on so may want a name that is asked
// with the load alone.
const settling = 3 * time.Second

// unsettled tells such a refusal, until then.
func (a *Asker) unsettled(refusal error) bool {
	const internalError = tls.AlertError(80) // RFC 8446, section 6
	if remote, ok := errors.AsType[*net.OpError](refusal); !ok || remote.Err.Error() != internalError.Error() {
		return false
	}
	if a.faulty.IsZero() {
		a.faulty = time.Now()
	}
	return time.Since(a.faulty) < settling
}

// request is the GET. Over TLS, where nothing has looked at the certificate, it has credentials only if
// statuses are named: else 401 counts, too.
func (a *Asker) request() *http.Request {
	u := *a.url
	if u.Scheme == schemeHTTPS && a.lenient() {
		u.User = nil
		if text := u.String(); secret.Text(text) != text {
			u.RawQuery = ""
		}
	}
	r := &http.Request{Method: http.MethodGet, URL: &u, Host: u.Host, Header: http.Header{"User-Agent": {"procfit"}}}
	if user := u.User; user != nil {
		password, _ := user.Password()
		r.SetBasicAuth(user.Username(), password)
	}
	return r
}

// get sends a GET of HTTP/1.1 and reads the head of the answer. It speaks HTTP by
// itself, as net/http's transport logs to standard error what it does not expect.
func (a *Asker) get(conn net.Conn) Answer {
	r := a.request()
	r.Close = true
	writeErr := r.Write(conn) // one that answers without reading may still have answered
	from := bufio.NewReader(io.LimitReader(conn, answerLimit))
	head, err := from.Peek(frameHead)
	if isSettings(head) {
		if a.lenient() {
			return Answer{Ready: true}
		}
		a.http2 = true
		return Answer{Err: errSettings}
	}
	if len(head) == 0 {
		return Answer{Err: errors.Join(writeErr, err)}
	}
	response, err := http.ReadResponse(from, r)
	if err != nil {
		return Answer{Err: err}
	}
	return a.status(response) // to close its body would read that to its end, which events do not have
}

var errSettings = errors.New("it speaks HTTP/2 alone")

func (a *Asker) getHTTP2(ctx context.Context, conn net.Conn) Answer {
	//lint:ignore SA1019 The connection exists already; NewClientConn of http.Transport dials one.
	transport := &http2.Transport{AllowHTTP: true, MaxHeaderListSize: answerLimit}
	//lint:ignore SA1019 As above.
	over, err := transport.NewClientConn(conn)
	if err != nil {
		return Answer{Err: err}
	}
	defer over.Close()
	r := a.request().WithContext(ctx)
	if r.URL.Scheme == schemeH2C {
		r.URL.Scheme = schemeHTTP
	}
	response, err := over.RoundTrip(r)
	if err != nil {
		return Answer{Err: err}
	}
	response.Body.Close()
	return a.status(response)
}

// status is what an answer's status means.
func (a *Asker) status(r *http.Response) Answer {
	if a.Probe.Statuses.has(r.StatusCode) {
		return Answer{Ready: true}
	}
	return Answer{Status: r.Status, Err: errors.New("it answered " + r.Status)}
}

// frameHead is the length of what comes before a frame of HTTP/2: its length,
// type, flags and stream (RFC 9113, section 4.1).
const frameHead = 9

// isSettings tells the SETTINGS frame of the connection, with which every server
// of HTTP/2 begins.
func isSettings(head []byte) bool {
	return len(head) == frameHead && bytes.Equal(head[3:], []byte{4, 0, 0, 0, 0, 0})
}

// The statuses of HTTP, and the first of those that say that the server failed.
const (
	leastStatus = 100
	mostStatus  = 599
	serverError = 500
)

type statusRange struct{ First, Last int }

// Statuses are those that count as ready; empty: any below 500.
type Statuses []statusRange

// ParseStatuses reads 200-399 or 200,204,401.
func ParseStatuses(text string) (Statuses, error) {
	var all Statuses
	for item := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(item), "-")
		if !isRange {
			high = low
		}
		first, err := strconv.ParseUint(low, 10, 16)
		last, err2 := strconv.ParseUint(high, 10, 16)
		if err != nil || err2 != nil || first < leastStatus || last > mostStatus || first > last {
			return nil, fmt.Errorf("%q: expected statuses from %d to %d, for example 200-399 or 200,401", text, leastStatus, mostStatus)
		}
		all = append(all, statusRange{int(first), int(last)})
	}
	return all, nil
}

func (s Statuses) has(status int) bool {
	if len(s) == 0 {
		return status < serverError
	}
	return slices.ContainsFunc(s, func(r statusRange) bool { return r.First <= status && status <= r.Last })
}

func (s Statuses) String() string {
	words := make([]string, len(s))
	for i, r := range s {
		words[i] = strconv.Itoa(r.First)
		if r.Last != r.First {
			words[i] += "-" + strconv.Itoa(r.Last)
		}
	}
	return strings.Join(words, ",")
}
