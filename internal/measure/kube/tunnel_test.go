package kube

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	//lint:ignore SA1019 The port forwarding of client-go has these types.
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/tools/portforward"

	"github.com/procfit/procfit/internal/load"
)

// hanging dials for as long as a kubelet that does not answer.
type hanging struct{ until chan struct{} }

func (h hanging) Dial(...string) (httpstream.Connection, string, error) {
	<-h.until
	return nil, "", errors.New("it never answered")
}

// A kubelet that hangs keeps nobody from giving up: neither who asked, nor who closes.
func TestTunnelHangs(t *testing.T) {
	h := hanging{make(chan struct{})}
	defer close(h.until)
	line := &tunnel{dialer: h}
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error)
	go func() {
		_, err := line.dial(ctx, 80)
		asked <- err
	}()
	closed := make(chan struct{})
	go func() {
		line.close()
		close(closed)
	}()
	for name, over := range map[string]func() bool{
		"closing": func() bool { <-closed; return true },
		"asking":  func() bool { cancel(); return errors.Is(<-asked, context.Canceled) },
	} {
		done := make(chan bool, 1)
		go func() { done <- over() }()
		select {
		case ok := <-done:
			if !ok {
				t.Errorf("%s ended otherwise than it was to", name)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s hangs too", name)
		}
	}
	// What could not be dialled says so.
	failed := make(chan struct{})
	close(failed)
	if _, err := (&tunnel{dialer: hanging{failed}}).dial(t.Context(), 80); err == nil || err.Error() != "it never answered" {
		t.Errorf("%v", err)
	}
}

// straight is a connection to a kubelet whose streams of data are dialled here.
type straight struct {
	httpstream.Connection
	to   string
	over chan struct{}
}

func (s straight) Dial(...string) (httpstream.Connection, string, error) {
	return s, portforward.PortForwardProtocolV1Name, nil
}

func (s straight) CreateStream(h http.Header) (httpstream.Stream, error) {
	if h.Get(corev1.StreamType) == corev1.StreamTypeError {
		return dialled{over: s.over}, nil
	}
	c, err := net.Dial("tcp", s.to)
	return dialled{conn: c}, err
}

func (straight) RemoveStreams(...httpstream.Stream) {}

// dialled is a stream, of data or of errors: none comes until it is over.
type dialled struct {
	httpstream.Stream
	conn net.Conn
	over chan struct{}
}

func (d dialled) Read(b []byte) (int, error) {
	if d.conn == nil {
		<-d.over
		return 0, io.EOF
	}
	return d.conn.Read(b)
}

func (d dialled) Write(b []byte) (int, error) { return d.conn.Write(b) }

func (d dialled) Close() error {
	if d.conn == nil {
		return nil
	}
	return d.conn.Close()
}

// A pod that serves https is ready once it answers: its certificate is not for its address.
func TestFetchOfTLS(t *testing.T) {
	web := httptest.NewTLSServer(http.NotFoundHandler())
	defer web.Close()
	over := make(chan struct{})
	defer close(over)
	f := localLoad{"10.0.0.1": {dialer: straight{to: web.Listener.Addr().String(), over: over}}}
	if a, err := f.Fetch(t.Context(), "https://10.0.0.1:8443/"); err != nil || a.Status != http.StatusNotFound {
		t.Errorf("%v: %+v", err, a)
	}
}

// A load from here leaves the addresses of the pods as they are: the warm-up and the loops
// of a trial share them.
func TestLocalLoadKeepsAddresses(t *testing.T) {
	failed := make(chan struct{})
	close(failed)
	f := localLoad{"10.0.0.1": {dialer: hanging{failed}}}
	offer := func(urls []string) error {
		_, err := f.Load(t.Context(), load.Options{URLs: urls, Connections: 1, Duration: 10 * time.Millisecond}, func(time.Duration) {})
		return err
	}
	const pod = "http://10.0.0.1:8080/"
	urls := []string{pod}
	_ = offer(urls) // whatever came of it: nothing listens there
	if urls[0] != pod {
		t.Errorf("the next load goes to %s", urls[0])
	}
	for _, unknown := range []string{"http://10.0.0.2:8080/", "http://10.0.0.1@elsewhere:8080/"} {
		if err := offer([]string{unknown}); err == nil {
			t.Errorf("%s: a load without a pod", unknown)
		}
		if _, err := f.Fetch(t.Context(), unknown); err == nil {
			t.Errorf("%s: a page without a pod", unknown)
		}
	}
}
