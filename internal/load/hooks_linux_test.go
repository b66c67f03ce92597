package load

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// The hooks enclose the duration, not what is waited for after it.
func TestBeganAndEndedEncloseTheDuration(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	var began, ended []time.Time
	_, err := Run(t.Context(), Options{
		URLs: []string{server.URL}, Connections: 2, Duration: 400 * time.Millisecond,
		Began: func() { began = append(began, time.Now()) },
		Ended: func() { ended = append(ended, time.Now()) },
	})
	returned := time.Now()
	if err != nil || len(began) != 1 || len(ended) != 1 {
		t.Fatalf("%v; began %d times, ended %d times", err, len(began), len(ended))
	}
	if span := ended[0].Sub(began[0]); span < 400*time.Millisecond || returned.Sub(ended[0]) < 200*time.Millisecond {
		t.Errorf("the hooks enclose %v and Run returned %v later; want 400 ms, then the drain of as long", span, returned.Sub(ended[0]))
	}
}
