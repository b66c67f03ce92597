package engine

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/loadtest"
	"github.com/procfit/procfit/test/must"
	"github.com/procfit/procfit/test/need"
)

// lie is an answer of HTTP/2: its head, its body frame by frame, and its trailers.
type lie struct {
	head     []string
	body     []string
	trailers []string // nil: the last frame of what came before ends the stream
	method   string   // empty: GET; of gRPC not used
	kinds    []load.Kind
	calls    bool           // of gRPC
	stream   bool           // the method's answers may be several
	good     bool           // none: it must count as an answer
	reset    *http2.ErrCode // the stream is reset at the end; without trailers it is not ended before
	apart    string         // why grpc-go's client says otherwise
}

func (l lie) answer(fr *http2.Framer, stream uint32, _ int) error {
	err := begin(fr, stream, len(l.body) == 0 && l.trailers == nil, l.head...)
	for i, part := range l.body {
		if err == nil {
			err = fr.WriteData(stream, i == len(l.body)-1 && l.trailers == nil && l.reset == nil, []byte(part))
		}
	}
	if l.trailers != nil && err == nil {
		err = begin(fr, stream, true, l.trailers...)
	}
	if l.reset != nil && err == nil {
		err = fr.WriteRSTStream(stream, *l.reset)
	}
	return err
}

// lies are answers that HTTP/2 or gRPC does not allow, and next to them good ones that
// differ in little.
func lies() map[string]lie {
	const (
		one = "\x00\x00\x00\x00\x02\x08\x01"
		cut = "\x00\x40\x00\x00\x00\x08\x01" // 1 GiB is announced
	)
	rpc := []string{":status", "200", "content-type", "application/grpc"}
	fine := []string{"grpc-status", "0"}
	with := func(fields ...string) []string { return append([]string{":status", "200"}, fields...) }
	cookies := func(n int) []string { // of 10 KB each
		return with(slices.Repeat([]string{"set-cookie", strings.Repeat("x", 10_000)}, n)...)
	}
	return map[string]lie{
		"length":               {head: with("content-length", "5"), body: []string{"he", "", "llo"}, good: true},
		"a short body":         {head: with("content-length", "20"), body: []string{"ok"}},
		"no body":              {head: with("content-length", "20")},
		"a long body":          {head: with("content-length", "2"), body: []string{"okokok"}},
		"a long body, then on": {head: with("content-length", "2"), body: []string{"ok", "okok", "ok"}},
		"two lengths":          {head: with("content-length", "2", "content-length", "3"), body: []string{"okk"}},
		"the same length":      {head: with("content-length", "2", "content-length", "2"), body: []string{"ok"}, good: true},
		"a length of words":    {head: with("content-length", "two"), body: []string{"ok"}},
		"two statuses":         {head: with(":status", "500"), body: []string{"ok"}},
		"status in trailers":   {head: with(), body: []string{"ok"}, trailers: with()},
		"HEAD":                 {head: with("content-length", "20"), method: "HEAD", good: true},
		"HEAD with a body":     {head: with("content-length", "2"), body: []string{"ok"}, method: "HEAD"},
		"204 with a body":      {head: []string{":status", "204"}, body: []string{"ok"}},
		"trailers":             {head: with(), body: []string{"ok"}, trailers: []string{"a", "b"}, good: true},
		"an unknown class":     {head: []string{":status", "999"}, kinds: []load.Kind{"status_999"}},
		"200 KB of cookies":    {head: cookies(20), good: true},
		"400 KB of cookies":    {head: cookies(40), kinds: []load.Kind{load.KindTooLarge}},

		"gRPC":                    {calls: true, head: rpc, body: []string{one}, trailers: fine, good: true},
		"gRPC, in pieces":         {calls: true, head: rpc, body: []string{one[:1], one[1:3], one[3:6], one[6:]}, trailers: fine, good: true},
		"gRPC, an empty message":  {calls: true, head: rpc, body: []string{"\x00\x00\x00\x00\x00"}, trailers: fine, good: true},
		"gRPC, no message":        {calls: true, head: rpc, trailers: fine},
		"gRPC, trailers only":     {calls: true, head: append(rpc, fine...)},
		"gRPC, two messages":      {calls: true, head: rpc, body: []string{one + one}, trailers: fine},
		"gRPC, later another":     {calls: true, head: rpc, body: []string{one, one}, trailers: fine},
		"gRPC, cut":               {calls: true, head: rpc, body: []string{cut}, trailers: fine},
		"gRPC, half a head":       {calls: true, head: rpc, body: []string{one[:3]}, trailers: fine},
		"gRPC, compressed":        {calls: true, head: append(rpc, "grpc-encoding", "gzip"), body: []string{"\x01" + one[1:]}, trailers: fine},
		"gRPC, status twice":      {calls: true, head: rpc, body: []string{one}, trailers: []string{"grpc-status", "13", "grpc-status", "0"}, apart: "grpc-go takes the last one"},
		"gRPC, status in head":    {calls: true, head: append(rpc, fine...), body: []string{one}, trailers: []string{"a", "b"}},
		"gRPC, no status":         {calls: true, head: rpc, body: []string{one}},
		"gRPC, a short length":    {calls: true, head: append(rpc, "content-length", "3"), body: []string{one}, trailers: fine, apart: "grpc-go does not read the length; RFC 9113, section 8.1.1, does"},
		"gRPC, a page":            {calls: true, head: with("content-type", "text/html"), body: []string{one}, trailers: fine},
		"gRPC, no type":           {calls: true, head: with(), body: []string{one}, trailers: fine},
		"gRPC, a bad status":      {calls: true, head: append(rpc, "grpc-status", "14"), kinds: []load.Kind{"grpc_unavailable"}},
		"gRPC, a negative status": {calls: true, head: rpc, body: []string{one}, trailers: []string{"grpc-status", "-1"}},
		"gRPC, a text as status":  {calls: true, head: rpc, body: []string{one}, trailers: []string{"grpc-status", "OK"}},
		"gRPC, a huge status":     {calls: true, head: rpc, body: []string{one}, trailers: []string{"grpc-status", "4294967296"}},
		"gRPC, a late status":     {calls: true, head: append(rpc, "grpc-status", "13"), body: []string{one}, trailers: fine, good: true},
		"gRPC, then a status":     {calls: true, head: rpc, body: []string{one}, trailers: []string{"grpc-status", "13"}, kinds: []load.Kind{"grpc_internal"}},
		"gRPC, compressed not":    {calls: true, head: rpc, body: []string{"\x01" + one[1:]}, trailers: fine},
		"gRPC, another flag":      {calls: true, head: rpc, body: []string{"\x02" + one[1:]}, trailers: fine},
		"gRPC, an encoding":       {calls: true, head: append(rpc, "grpc-encoding", "gzip"), body: []string{one}, trailers: fine, good: true},
		"gRPC, of the web":        {calls: true, head: with("content-type", "application/grpc-web"), body: []string{one}, trailers: fine},
		"gRPC, with a suffix":     {calls: true, head: with("content-type", "application/grpc+proto"), body: []string{one}, trailers: fine, good: true},
		"gRPC, with a parameter":  {calls: true, head: with("content-type", "application/grpc;x=y"), body: []string{one}, trailers: fine, good: true},
		"gRPC, in capitals":       {calls: true, head: with("content-type", "Application/gRPC"), body: []string{one}, trailers: fine},
		"gRPC, shorter than it":   {calls: true, head: rpc, body: []string{"\x00\x00\x00\x00\x09\x08\x01"}, trailers: fine},
		"gRPC, not a message":     {calls: true, head: rpc, body: []string{"\x00\x00\x00\x00\x02\xff\xff"}, trailers: fine, good: true, apart: "of a message only its length is looked at"},
		"gRPC, reset":             {calls: true, head: rpc, body: []string{one}, reset: new(http2.ErrCodeInternal), kinds: []load.Kind{load.KindStreamReset}},
		"gRPC, reset without":     {calls: true, head: rpc, body: []string{one}, reset: new(http2.ErrCodeNo), kinds: []load.Kind{load.KindStreamReset}},
		"gRPC, reset behind":      {calls: true, head: rpc, body: []string{one}, trailers: fine, reset: new(http2.ErrCodeNo), good: true},
		"gRPC, another HTTP":      {calls: true, head: []string{":status", "503", "content-type", "application/grpc"}, body: []string{one}, trailers: fine, kinds: []load.Kind{"status_503"}, apart: "grpc-go reads no HTTP status of gRPC's content-type; the protocol has 200 alone"},
		"gRPC, 204":               {calls: true, head: []string{":status", "204", "content-type", "application/grpc", "grpc-status", "0"}},
		"gRPC, elsewhere":         {calls: true, head: []string{":status", "302", "location", "/"}},
		"stream, none":            {calls: true, stream: true, head: rpc, trailers: fine, good: true},
		"stream, three":           {calls: true, stream: true, head: rpc, body: []string{one + one, one}, trailers: fine, good: true},
		"stream, cut":             {calls: true, stream: true, head: rpc, body: []string{one, cut}, trailers: fine},
		"stream, compressed":      {calls: true, stream: true, head: rpc, body: []string{one, "\x01" + one[1:]}, trailers: fine},
	}
}

// TestLiesOfGRPC: an answer counts as good if grpc-go's own client takes it, and if not, not.
func TestLiesOfGRPC(t *testing.T) {
	t.Parallel()
	for name, l := range lies() {
		if !l.calls {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := framed(t, loopback(t), nil, l.answer)
			c, err := grpc.NewClient(strings.TrimSuffix(strings.TrimPrefix(url, "h2c://"), "/"), grpc.WithTransportCredentials(insecure.NewCredentials()))
			must.OK(t, err)
			defer c.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if l.stream {
				var answers grpc.ServerStreamingClient[healthpb.HealthCheckResponse]
				if answers, err = healthpb.NewHealthClient(c).Watch(ctx, new(healthpb.HealthCheckRequest)); err == nil {
					for err == nil {
						_, err = answers.Recv()
					}
				}
				if err == io.EOF {
					err = nil
				}
			} else {
				_, err = healthpb.NewHealthClient(c).Check(ctx, new(healthpb.HealthCheckRequest))
			}
			if ctx.Err() != nil {
				t.Fatal(err)
			}
			if (err == nil) != (l.good == (l.apart == "")) {
				t.Errorf("grpc-go says %v, procfit %v", err, l.good)
			}
		})
	}
}

// What its protocol does not allow does not count as an answer, over TLS and without.
func TestLies(t *testing.T) {
	t.Parallel()
	own, _, _ := loadtest.MustSign(t, "127.0.0.1", time.Now().Add(-time.Minute))
	protoset, _ := healthTypes(t)
	for name, l := range lies() {
		for _, secure := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "/TLS"}[secure], func(t *testing.T) {
				t.Parallel()
				o := load.Options{Method: l.method}
				o.TLS.Insecure = secure
				if l.calls {
					method := checkMethod
					if l.stream {
						method = "grpc.health.v1.Health/Watch"
					}
					o.GRPC = with(call("", method, ""), func(c *load.Options) { c.GRPC.Protoset = protoset }).GRPC
				}
				kind := load.KindMalformed
				if l.kinds != nil {
					kind = l.kinds[0]
				}
				inMemory(t, func(t *testing.T, n *lan) {
					o := o
					if o.URLs = []string{framed(t, n.listen(), nil, l.answer)}; secure {
						o.URLs = []string{liarTLS(t, n.listen(), own, "h2", frames(nil, l.answer))}
					}
					checkLie(t, n.run, o, l.good, kind)
				})
			})
		}
	}
}

// forReal runs it over the kernel's sockets.
func forReal(t *testing.T, o load.Options) (*load.Result, error) { return Run(t.Context(), o) }

// checkLie wants every answer to count as good and to be followed by another one, or none, and all of them as a kind.
func checkLie(t *testing.T, run func(*testing.T, load.Options) (*load.Result, error), o load.Options, good bool, kinds ...load.Kind) {
	t.Helper()
	o.Connections, o.Duration, o.Timeout = 1, 50*time.Millisecond, 5*time.Second
	r, err := run(t, o)
	if err == nil && r.Errors == 0 && (r.Requests < 2 || r.AchievedPerSecond == 0) { // on a busy machine the answer may come after the end
		o.Duration = time.Second
		r, err = run(t, o)
	}
	must.OK(t, err)
	if good {
		if r.Requests < 2 || r.Errors > 0 || r.AchievedPerSecond == 0 {
			t.Errorf("%d answers, errors %v (%v)", r.Requests, r.ErrorKinds, r.FirstError)
		}
		return
	}
	var found int64
	for _, k := range kinds {
		found += r.ErrorKinds[k]
	}
	if found == 0 || found != r.Errors || r.AchievedPerSecond > 0 || r.ErrorKinds[load.KindMalformed] > 0 && r.Requests > 0 {
		t.Errorf("%d answers, errors %v (%v), %v a second; want %s", r.Requests, r.ErrorKinds, r.FirstError, r.AchievedPerSecond, kinds)
	}
}

func liarTLS(t *testing.T, l net.Listener, pair tls.Certificate, proto string, serve func(net.Conn)) string {
	t.Helper()
	secure := tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{proto}})
	return "https" + strings.TrimPrefix(rawAt(t, secure, serve), "http")
}

// answerHTTP1 is an answer of HTTP/1.1.
type answerHTTP1 struct {
	text  string
	close bool        // the server closes behind it
	kinds []load.Kind // one of which it counts as; nil: as an answer
	// forbids is the section of an RFC by which a client must not take it, where curl does.
	forbids string
}

// answersHTTP1 are answers that a client of HTTP/1.1 takes, and such that it does not.
func answersHTTP1() map[string]answerHTTP1 {
	const (
		ok     = "HTTP/1.1 200 OK\r\n"
		chunks = ok + "Transfer-Encoding: chunked\r\n"
	)
	big := strings.Repeat("x", 200<<10) // more than one reading takes
	malformed, cut := []load.Kind{load.KindMalformed}, []load.Kind{load.KindClosed, load.KindReset}
	return map[string]answerHTTP1{
		"length":             {text: ok + "Content-Length: 2\r\n\r\nok"},
		"200 KB":             {text: ok + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(big)) + big},
		"until its end":      {text: ok + "\r\n" + big, close: true},
		"elsewhere":          {text: "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"},
		"not found":          {text: "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", kinds: []load.Kind{"status_404"}},
		"unavailable":        {text: "HTTP/1.1 503 No\r\nConnection: close\r\n\r\n", close: true, kinds: []load.Kind{"status_503"}},
		"a long body":        {text: ok + "Content-Length: 2\r\n\r\nokokok"},
		"a line break":       {text: ok + "Content-Length: 2\r\n\r\nok\r\n"},
		"204 with a body":    {text: "HTTP/1.1 204 No Content\r\n\r\nok"},
		"two answers":        {text: strings.Repeat(ok+"Content-Length: 2\r\n\r\nok", 2), kinds: []load.Kind{load.KindUnasked}, forbids: "RFC 9112, section 9.2: an answer belongs to a request"},
		"idle after it":      {text: ok + "Content-Length: 2\r\n\r\nokHTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n", close: true},
		"close, then keep":   {text: ok + "Connection: close\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", close: true},
		"length and chunks":  {text: chunks + "Content-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n"},
		"one length twice":   {text: ok + "Content-Length: 2, 2\r\n\r\nok"},
		"folded":             {text: ok + "Set-Cookie: a=b;\r\n  path=/\r\nContent-Length: 2\r\n\r\nok"},
		"a blank and colon":  {text: ok + "X-A : b\r\nContent-Length: 2\r\n\r\nok"},
		"an unknown class":   {text: "HTTP/1.1 999 Request denied\r\nContent-Length: 0\r\n\r\n", kinds: []load.Kind{"status_999"}},
		"80 KB of cookies":   {text: ok + strings.Repeat("Set-Cookie: c="+strings.Repeat("x", 4000)+"\r\n", 20) + "Content-Length: 2\r\n\r\nok"},
		"a line of 90 KB":    {text: ok + "A: " + strings.Repeat("x", 90_000) + "\r\nContent-Length: 2\r\n\r\nok"},
		"400 KB of cookies":  {text: ok + strings.Repeat("Set-Cookie: c="+strings.Repeat("x", 4000)+"\r\n", 100) + "Content-Length: 2\r\n\r\nok", kinds: []load.Kind{load.KindTooLarge}},
		"two lengths":        {text: ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nokk", kinds: malformed, forbids: "RFC 9112, section 6.3"},
		"two in one":         {text: ok + "Content-Length: 2, 3\r\n\r\nok", kinds: malformed, forbids: "RFC 9112, section 6.3"},
		"half a number":      {text: ok + "Content-Length: 2x\r\n\r\nok", kinds: malformed, forbids: "RFC 9112, section 6.3"},
		"another protocol":   {text: "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok", kinds: malformed, forbids: "RFC 9112, section 2.3: no client of HTTP/1.1 has asked for HTTP/2"},
		"no name of a field": {text: ok + ": b\r\nContent-Length: 2\r\n\r\nok", kinds: malformed, forbids: "RFC 9110, section 5.1: a name is a token"},
		"no colon":           {text: ok + "Nonsense\r\nContent-Length: 2\r\n\r\nok", kinds: malformed},
		"a long chunk":       {text: chunks + "\r\n2\r\nokok\r\n0\r\n\r\n", kinds: malformed},
		"a chunk of words":   {text: chunks + "\r\ntwo\r\nok\r\n0\r\n\r\n", kinds: malformed},
		"half a chunk size":  {text: chunks + "\r\n2x\r\nok\r\n0\r\n\r\n", kinds: malformed, forbids: "RFC 9112, section 7.1"},
		"a short body":       {ok + "Content-Length: 20\r\n\r\nok", true, cut, ""},
		"a short chunk":      {chunks + "\r\n20\r\nok", true, cut, ""},
		"no last chunk":      {chunks + "\r\n2\r\nok\r\n", true, cut, ""},
	}
}

// serve sends the answer to each request.
func (a answerHTTP1) serve() func(net.Conn) {
	if !a.close {
		return answer(a.text)
	}
	return func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = io.WriteString(c, a.text)
		}
	}
}

// Answers of HTTP/1.1 count the same by both engines and over TLS.
func TestAnswersHTTP1(t *testing.T) {
	t.Parallel()
	own, _, _ := loadtest.MustSign(t, "127.0.0.1", time.Now().Add(-time.Minute))
	for name, a := range answersHTTP1() {
		serve := a.serve()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkLie(t, forReal, load.Options{URLs: []string{raw(t, serve)}}, a.kinds == nil, a.kinds...)
		})
		t.Run(name+"/portable", func(t *testing.T) {
			t.Parallel()
			inMemory(t, func(t *testing.T, n *lan) {
				checkLie(t, n.run, load.Options{URLs: []string{rawAt(t, n.listen(), serve)}, Engine: load.EnginePortable}, a.kinds == nil, a.kinds...)
			})
		})
		t.Run(name+"/TLS", func(t *testing.T) {
			t.Parallel()
			checkLie(t, forReal, load.Options{URLs: []string{liarTLS(t, loopback(t), own, "http/1.1", serve)}, TLS: load.TLS{Insecure: true}}, a.kinds == nil, a.kinds...)
			inMemory(t, func(t *testing.T, n *lan) {
				checkLie(t, n.run, load.Options{URLs: []string{liarTLS(t, n.listen(), own, "http/1.1", serve)}, TLS: load.TLS{Insecure: true}}, a.kinds == nil, a.kinds...)
			})
		})
	}
}

// curl takes nothing that counts as malformed here, but what an RFC forbids a client.
func TestCurlTakesNoMore(t *testing.T) {
	t.Parallel()
	curl := need.Command(t, "curl")
	for name, a := range answersHTTP1() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command(curl, "--silent", "--show-error", "--max-time", "20", "--output", os.DevNull, "--write-out", "%{http_code}", raw(t, a.serve())).CombinedOutput()
			taken := err == nil
			ours := a.kinds == nil || strings.HasPrefix(string(a.kinds[0]), "status_")
			if taken != (ours || a.forbids != "") {
				t.Errorf("curl takes it: %v (%s, %v); procfit takes it: %v; forbidden by %q", taken, out, err, ours, a.forbids)
			}
		})
	}
}
