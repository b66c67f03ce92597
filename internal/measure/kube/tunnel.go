package kube

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	//lint:ignore SA1019 The port forwarding of client-go has these types.
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/tools/portforward"

	"github.com/procfit/procfit/internal/show/number"
)

// tunnel leads to the ports of one pod through the API server, as kubectl port-forward
// does, but without a port on this machine that others could use. A connection that
// broke is dialled again when it is next needed.
type tunnel struct {
	dialer httpstream.Dialer

	mu   sync.Mutex
	over httpstream.Connection
	n    int // of the streams
}

// tunnel makes one; nothing is dialled yet.
func (c *api) tunnel(pod string) (*tunnel, error) {
	dialer, err := c.PortForward(pod)
	return &tunnel{dialer: dialer}, err
}

// dialPatience is for an API server that asks a kubelet which does not answer.
const dialPatience = 30 * time.Second

// connection is the one to the API server, dialled where there is none that lives. It is
// dialled next to the lock: a kubelet that hangs must not keep anybody from closing.
func (t *tunnel) connection(ctx context.Context) (httpstream.Connection, int, error) {
	over, n := t.next(nil)
	if over != nil {
		return over, n, nil
	}
	var made httpstream.Connection
	dialled := make(chan error, 1)
	go func() {
		var err error
		made, err = t.dialAnew()
		dialled <- err
	}()
	select {
	case err := <-dialled:
		if err != nil {
			return nil, 0, err
		}
		over, n := t.next(made)
		return over, n, nil
	case <-ctx.Done():
	case <-time.After(dialPatience):
	}
	go func() {
		if <-dialled == nil {
			made.Close() // nobody waits for it any more
		}
	}()
	return nil, 0, cmp.Or(ctx.Err(), fmt.Errorf("port-forward: no answer within %s", number.Chosen(dialPatience)))
}

func (t *tunnel) dialAnew() (httpstream.Connection, error) {
	over, protocol, err := t.dialer.Dial(portforward.PortForwardProtocolV1Name)
	if err == nil && protocol != portforward.PortForwardProtocolV1Name {
		over.Close()
		err = fmt.Errorf("port-forward: the API server uses the protocol %q instead of %q", protocol, portforward.PortForwardProtocolV1Name)
	}
	return over, err
}

// next is the connection that lives, or the one that was dialled where none does, with the
// next stream's number; nil: there is none.
func (t *tunnel) next(made httpstream.Connection) (over httpstream.Connection, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	if t.over != nil {
		select {
		case <-t.over.CloseChan():
			t.over = nil
		default:
			if made != nil {
				made.Close()
			}
			return t.over, t.n
		}
	}
	t.over = made
	return t.over, t.n
}

// dial connects to a port of the pod's loopback.
func (t *tunnel) dial(ctx context.Context, port int) (net.Conn, error) {
	over, id, err := t.connection(ctx)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	header.Set(corev1.PortHeader, strconv.Itoa(port))
	header.Set(corev1.PortForwardRequestIDHeader, strconv.Itoa(id))
	header.Set(corev1.StreamType, corev1.StreamTypeError)
	trouble, err := over.CreateStream(header)
	if err != nil {
		t.lost(over)
		return nil, fmt.Errorf("port-forward: %w", err)
	}
	trouble.Close() // nothing is written to it
	header.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := over.CreateStream(header)
	if err != nil {
		over.RemoveStreams(trouble)
		t.lost(over)
		return nil, fmt.Errorf("port-forward: %w", err)
	}
	c := &stream{Stream: data, over: over, trouble: trouble}
	go c.watch()
	return c, nil
}

func (t *tunnel) lost(over httpstream.Connection) {
	t.mu.Lock()
	defer t.mu.Unlock()
	over.Close()
	if t.over == over {
		t.over = nil
	}
}

// close ends all of its connections. The next one is dialled again.
func (t *tunnel) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over != nil {
		t.over.Close()
		t.over = nil
	}
}

type stream struct {
	httpstream.Stream
	over    httpstream.Connection
	trouble httpstream.Stream
	once    sync.Once
}

// watch ends the connection when the other end says that it could not be opened.
func (s *stream) watch() {
	if b, err := io.ReadAll(s.trouble); err != nil || len(b) > 0 {
		s.Close()
	}
}

func (s *stream) Close() error {
	s.once.Do(func() {
		s.Stream.Close() // of our half; a reset has been seen to stop the whole connection
		go func() {
			io.Copy(io.Discard, s.Stream) // what nobody reads holds up all other streams
			s.over.RemoveStreams(s.Stream, s.trouble)
		}()
	})
	return nil
}

// What net.Conn asks for as well; deadlines are those of the requests.
func (s *stream) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *stream) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *stream) SetDeadline(time.Time) error      { return nil }
func (s *stream) SetReadDeadline(time.Time) error  { return nil }
func (s *stream) SetWriteDeadline(time.Time) error { return nil }

// transport is for an HTTP client of a port of the pod, whatever the host is. Of https the certificate is
// for another name than the pod's address: that is asked only whether it answers, and the load verifies
// for itself.
func (t *tunnel) transport(port int) http.RoundTripper {
	return &http.Transport{
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return t.dial(ctx, port) },
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}
}
