// Package load describes a load, checks it, and holds what a run of it measured. It also
// finds figures in the output of other programs; package foreign reads what load
// generators print. Nothing here opens a connection: package engine does, and only who
// offers a load imports it.
package load

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
)

// DefaultTimeout is how long a request may take where Options says nothing.
const DefaultTimeout = 10 * time.Second

const (
	maxRate        = 1e6       // requests a second; one thread carries about a tenth
	maxStreams     = 10_000    // on a connection
	maxConnections = 1_000_000 // a bound against typing errors; the kernel's are lower. Of the streams on all, too
	maxThreads     = 256       // each has histograms and buffers of about 0.6 MB
)

// Options is the load to offer. As JSON it is all of it but the functions, so that it
// can be offered from elsewhere.
type Options struct {
	URLs        []string      // one a replica; connections are dealt to them in turn
	Method      string        // empty: GET, or POST with a body
	Headers     []string      // "Name: value"; Host replaces the URL's
	Body        []byte        // sent with each request
	Requests    []Request     // a mix, in place of Method and Body and of the URLs' paths; empty: one request
	Seed        uint64        // of the order of Requests, and of PacePoisson
	GRPC        *GRPC         // a call in place of Method and Body; nil: HTTP
	Connections int           // kept open
	Streams     int           // requests at a time on each, of HTTP/2; 0: 1
	Rate        float64       // intended requests a second; 0: closed loop
	Pace        string        // PaceConstant or PacePoisson; empty: constant
	Duration    time.Duration // in which measured requests are intended
	Settle      time.Duration // the same load before it, in no figure but Counted
	Timeout     time.Duration // for one request from its send, and for connecting; 0: DefaultTimeout
	CPUs        []int         // the engine's threads run on these only; empty: anywhere
	Threads     int           // event loops on Linux; 0: chosen
	TLS         TLS           // of https
	Engine      string        // EnginePortable; empty: the cheapest that this system has

	// Each, if any, is called once a second from one goroutine with what came in it.
	Each func(Interval) `json:"-"`
	// Began, if any, is called when all connections are open, before the first request
	// of the settling; Ended at the end of Duration, when nothing more is sent, before
	// what is under way is waited for. Between their calls came Result.Counted answers.
	// Settle keeps what Began leaves behind, cold caches and a collection of its
	// garbage, out of the latency.
	Began, Ended func() `json:"-"`
}

// Prepared is Options checked and made ready for an engine, which is chosen.
type Prepared struct {
	Options
	Targets  []Target
	Security *tls.Config // of https
	Lines    []Header    // headers of all requests
	Called   CallName    // the method of gRPC
	scheme   string      // of all targets
	types    CallTypes   // of gRPC; nil: the server tells them
}

// Check says what is wrong with the options, as a run would: a FieldError, or that
// the limit of open files cannot be read.
func (o Options) Check() error {
	_, err := o.Prepare()
	return err
}

// Prepare checks the options and makes the requests.
func (o Options) Prepare() (*Prepared, error) {
	if err := o.checkNumbers(); err != nil {
		return nil, err
	}
	o.Timeout, o.Streams = cmp.Or(o.Timeout, DefaultTimeout), cmp.Or(o.Streams, 1)
	lines, err := parseHeaders(o.Headers)
	if err != nil {
		return nil, err
	}
	p := &Prepared{Options: o, Lines: lines}
	urls, err := p.parseURLs()
	if err != nil {
		return nil, err
	}
	if p.Streams > 1 && p.scheme == SchemeHTTP && p.GRPC == nil {
		return nil, invalid(FieldStreams, fmt.Sprint(p.Streams), "http:// is HTTP/1.1, which allows one request at a time on a connection; write h2c:// or https://")
	}
	if p.Engine != EnginePortable && hasRaw {
		p.Engine = EngineRaw
	} else {
		p.Engine = EnginePortable
	}
	if p.Security, err = o.TLS.Config(p.scheme); err != nil {
		return nil, err
	}
	switch {
	case o.GRPC != nil && len(o.Requests) > 0:
		err = invalid(FieldRequests, "", "a gRPC call is a single request")
	case o.GRPC != nil:
		err = p.prepareCall(urls)
	case len(o.Requests) > 0:
		err = p.prepareMix()
	default:
		err = p.single(urls)
	}
	if err != nil {
		return nil, err
	}
	return p, checkFiles(o.Connections)
}

func (p *Prepared) parseURLs() ([]*url.URL, error) {
	var urls []*url.URL
	for _, raw := range p.URLs {
		t, u, err := newTarget(raw)
		if err != nil {
			return nil, err
		}
		if p.scheme != "" && t.Scheme != p.scheme {
			return nil, invalid(FieldURL, raw, "the URL before it is %s://, and all URLs need the same scheme", p.scheme)
		}
		p.scheme = t.Scheme
		p.Targets, urls = append(p.Targets, t), append(urls, u)
	}
	return urls, nil
}

func (o Options) checkNumbers() error {
	connections, rate := strconv.Itoa(o.Connections), strconv.FormatFloat(o.Rate, 'g', -1, 64)
	switch {
	case len(o.URLs) == 0:
		return invalid(FieldURL, "", "none is given")
	case o.Connections < 1:
		return invalid(FieldConnections, connections, "at least 1 is needed")
	case o.Connections > maxConnections:
		return invalid(FieldConnections, connections, "at most %d", maxConnections)
	case o.Connections < len(o.URLs):
		return invalid(FieldConnections, connections, "%s need at least one each", phrase.Count(len(o.URLs), "URL"))
	case !(o.Rate >= 0 && o.Rate <= maxRate): // NaN fails too
		return invalid(FieldRate, rate, "must be above 0, and at most %.0f req/s", float64(maxRate))
	case o.Duration <= 0:
		return invalid(FieldDuration, o.Duration.String(), "must be more than 0")
	case o.Rate > 0 && o.Rate*o.Duration.Seconds() < 1:
		return invalid(FieldRate, rate, "less than one request in %s", number.Chosen(o.Duration))
	case o.Settle < 0:
		return invalid(FieldSettle, o.Settle.String(), "must not be negative")
	case o.Timeout < 0:
		return invalid(FieldTimeout, o.Timeout.String(), "must not be negative")
	case o.Streams < 0 || o.Streams > maxStreams:
		return invalid(FieldStreams, strconv.Itoa(o.Streams), "must be between 1 and %d", maxStreams)
	case o.Streams > maxConnections/o.Connections:
		return invalid(FieldStreams, strconv.Itoa(o.Streams), "on %s, that is more than %d requests at a time", phrase.Count(o.Connections, "connection"), maxConnections)
	case o.Threads < 0 || o.Threads > maxThreads:
		return invalid(FieldThreads, strconv.Itoa(o.Threads), "must be between 1 and %d", maxThreads)
	}
	for _, cpu := range o.CPUs {
		if cpu < 0 {
			return invalid(FieldCPUs, strconv.Itoa(cpu), "must not be negative")
		}
	}
	return o.checkPace()
}

// The ways in which the requests of an open loop follow one another.
const (
	PaceConstant = "constant" // evenly
	// PacePoisson is as the requests of many independent users come: at random. The
	// measured time has as many of them as of an even pace.
	PacePoisson = "poisson"
)

// maxPoisson bounds the random schedule, because each of its times is kept: 80 MB.
const maxPoisson = 10_000_000

func (o Options) checkPace() error {
	switch {
	case o.Pace != "" && o.Pace != PaceConstant && o.Pace != PacePoisson:
		return invalid(FieldPace, o.Pace, "expected %s or %s", PaceConstant, PacePoisson)
	case o.Pace != PacePoisson:
		return nil
	case o.Rate == 0:
		return invalid(FieldPace, o.Pace, "it applies only to requests at a rate; add --rate")
	case o.Rate*(o.Duration+o.Settle).Seconds() > maxPoisson:
		return invalid(FieldPace, o.Pace, "%.3g requests are more than %d; shorten the duration", o.Rate*(o.Duration+o.Settle).Seconds(), maxPoisson)
	}
	return nil
}

// The engines, as journals write them. Both are the same loop.
const (
	// EngineRaw waits for the kernel's sockets on threads of its own, on Linux.
	EngineRaw = "raw"
	// EnginePortable waits for connections of package net, wherever Go runs.
	EnginePortable = "portable"
)
