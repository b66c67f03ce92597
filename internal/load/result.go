package load

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
)

// The modes of a run, as the journal writes them.
const (
	ModeClosed = "closed"
	ModeOpen   = "open"
)

type Result struct {
	Mode        string
	Rate        float64 // offered, requests a second; 0 in a closed loop
	Pace        string  // of an open loop
	Engine      string  // that offered it
	Protocol    string  // that was spoken: HTTP/1.1, HTTP/2, gRPC
	Connections int
	Streams     int // on each
	Threads     int
	Duration    time.Duration // as asked for, or until the cancellation

	Requests int64 // answered, whatever the status
	Good     int64 // of these with 2xx, 3xx or gRPC's OK
	// AchievedPerSecond is good answers (2xx, 3xx) a second. In a closed loop: those
	// that came within Duration. In an open loop: the pace at which they came, so that
	// it equals Rate where the server keeps up, whatever its latency (see pace).
	AchievedPerSecond float64
	Redirects         int64          // good answers that only point elsewhere (3xx without 304), which is not followed
	Errors            int64          // answers with another status, and requests and connections that failed
	ErrorKinds        map[Kind]int64 // Errors by kind
	FirstError        Failure        // the zero value without any
	// FailedConnections are those of Errors that ended no request: a connection that was
	// refused, say. What became of the requests that waited for one is counted with these.
	FailedConnections int64
	Unanswered        int64 // under way when the run ended; neither Requests nor Errors
	// Hanging are those of Unanswered that were sent before the end of Duration, or after a request
	// that timed out in their place. A server that is only slow has others, sent later.
	Hanging    int64
	Dropped    int64           // intended and never sent, because of a lack of a free connection
	PerURL     []URLCount      // in the order of Options.URLs
	PerRequest []RequestResult // of a mix, by name, in the order of Options.Requests; nil without one
	// Counted is the answers, whatever the status, that came between the calls of
	// Began and Ended: what was counted between them belongs to that many. It includes
	// those of the settling, which are in no other figure.
	Counted int64

	// Latency is in nanoseconds, three digits. It holds every answer, and as at least
	// the time waited every request that failed, was unanswered or dropped.
	Latency *hdrhistogram.Histogram
	SendLag *hdrhistogram.Histogram // nanoseconds; nil in a closed loop

	User    time.Duration // CPU time of the engine's threads, until the last of them ended
	System  time.Duration
	Busiest float64 // CPU time ÷ wall time of the busiest thread; near 1 the engine is the limit
}

// FailedRequests is how many requests failed, without those that were never answered.
func (r *Result) FailedRequests() int64 { return r.Errors - r.FailedConnections }

// Encoded is the latency histogram in HdrHistogram's V2 form: compressed, base64.
func (r *Result) Encoded() (string, error) {
	b, err := r.Latency.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("encode the latency histogram: %w", err)
	}
	return string(b), nil
}

type URLCount struct {
	Connections int   // dealt to it; of HTTP/2 their streams
	Answered    int64 // whatever the status
	Failed      int64 // as Errors: bad statuses, and requests and connections that failed
	Unanswered  int64 // under way when the run ended
	Hanging     int64 // as Result.Hanging
}

// Hung reports that nothing came from the URL any more: at the end of the run each
// of its connections still waited for an answer, as long as was waited at all.
func (u URLCount) Hung() bool { return u.Hanging >= int64(u.Connections) }

// RequestResult is what became of the requests of one name in a mix.
type RequestResult struct {
	Name       string
	Answered   int64 // whatever the status
	Errors     int64 // bad statuses, and requests that failed
	Unanswered int64 // under way when the run ended
	Hanging    int64 // as Result.Hanging
	Dropped    int64 // intended and never sent, by a sample of them
	// Latency is as Result.Latency, in two digits.
	Latency *hdrhistogram.Histogram
}

// Interval is a second of a run as it went: the latency of what was answered or failed
// in it. What has no answer at all is in no interval.
type Interval struct {
	Start   time.Time
	Length  time.Duration
	Latency *hdrhistogram.Histogram // nanoseconds, three digits
	Failed  int64                   // requests so far, as FailedRequests
}

// Kind is why a request or a connection failed: a code that may be kept.
type Kind string

// The kinds in addition to those of a status, which StatusKind and CallKind make.
const (
	KindRefused        Kind = "refused"         // nobody listens
	KindConnectTimeout Kind = "connect_timeout" // no connection before the timeout
	KindConnect        Kind = "connect"         // no connection for another reason
	KindClosed         Kind = "closed"          // by the server before the answer was complete
	KindReset          Kind = "reset"           // by the server
	KindBroken         Kind = "broken"          // a send or a receive failed for another reason
	KindTimeout        Kind = "timeout"         // no answer within the time-out
	KindUnfinished     Kind = "unfinished"      // an answer started, and did not end within the time-out
	KindUnsent         Kind = "unsent"          // the server did not take the request within the time-out
	KindMalformed      Kind = "malformed"       // an answer that its protocol does not allow
	KindUnasked        Kind = "unasked"         // behind the answer another one came, so that which is whose is not known
	KindTooLarge       Kind = "too_large"       // headers of an answer that pass all bounds
	KindProtocol       Kind = "protocol"        // the server speaks another protocol
	KindStreams        Kind = "streams"         // the server allows fewer streams a connection
	KindGoAway         Kind = "goaway"          // HTTP/2: the server gave the connection up
	KindStreamReset    Kind = "stream_reset"    // HTTP/2: the server gave the request up

	KindTLS            Kind = "tls"             // no handshake, for another reason than these
	KindTLSAuthority   Kind = "tls_authority"   // a certificate that nobody signed whom we trust
	KindTLSName        Kind = "tls_name"        // a certificate for another host
	KindTLSExpired     Kind = "tls_expired"     // a certificate that is not valid now
	KindTLSCertificate Kind = "tls_certificate" // the server wants a certificate of ours
)

func words() map[Kind]string {
	return map[Kind]string{
		KindRefused:        "connection refused",
		KindConnectTimeout: "no connection before the timeout",
		KindConnect:        "could not connect",
		KindClosed:         "connection closed before the answer was complete",
		KindReset:          "connection reset",
		KindBroken:         "connection broken",
		KindTimeout:        "timed out",
		KindUnfinished:     "answer not complete before the timeout",
		KindUnsent:         "request not read by the server before the timeout",
		KindMalformed:      "malformed answer",
		KindUnasked:        "more answers than requests",
		KindTooLarge:       "headers too large",
		KindProtocol:       "unexpected protocol",
		KindStreams:        "too few streams allowed",
		KindGoAway:         "connection closed by the server (GOAWAY)",
		KindStreamReset:    "request reset by the server (RST_STREAM)",
		KindTLS:            "TLS handshake failed",
		KindTLSAuthority:   "certificate signed by an unknown CA",
		KindTLSName:        "certificate for another host",
		KindTLSExpired:     "certificate expired or not valid yet",
		KindTLSCertificate: "the server requires a client certificate",
	}
}

// Words is the kind for readers: "connection refused", "status 503", "gRPC
// UNAVAILABLE".
func (k Kind) Words() string {
	if w, ok := words()[k]; ok {
		return w
	}
	if status, ok := strings.CutPrefix(string(k), statusPrefix); ok {
		return "status " + status
	}
	if code, ok := strings.CutPrefix(string(k), grpcPrefix); ok {
		return "gRPC " + strings.ToUpper(code)
	}
	return string(k)
}

const (
	statusPrefix = "status_"
	grpcPrefix   = "grpc_"
)

// StatusKind is that of a bad status of HTTP: status_503.
func StatusKind(status int) Kind { return Kind(statusPrefix + strconv.Itoa(status)) }

// CallKind is that of a code of gRPC, by its name: grpc_unavailable.
func CallKind(code string) Kind { return Kind(grpcPrefix + code) }

// Failure is one failure in full; the zero value is none.
type Failure struct {
	Kind   Kind
	URL    string
	Detail string // what the kernel said or what was wrong with the answer; may be empty
}

func (f Failure) String() string {
	return phrase.Join(": ", secret.Text(f.URL), f.Kind.Words(), f.Detail)
}
