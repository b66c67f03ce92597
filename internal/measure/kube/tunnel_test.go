package kube

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/httpstream"
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
