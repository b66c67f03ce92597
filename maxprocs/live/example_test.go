package live_test

import (
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/procfit/procfit/maxprocs/live"
)

// A server whose requests are measured from their arrival. An experiment can set 1 to 8
// Ps, through a socket that only this user and root can use, while the server is ready.
func Example() {
	var meter live.Meter
	var ready atomic.Bool
	agent := live.New(&meter,
		live.Min(1), live.Max(8),
		live.Refuse(func() error {
			if !ready.Load() {
				return errors.New("not ready")
			}
			return nil
		}),
		live.OnSwitch(func(s live.Switch) { log.Printf("GOMAXPROCS %d, was %d: %s", s.To, s.From, s.Why) }),
	)
	control, err := agent.Listen("/run/app/procfit.sock")
	if err != nil {
		log.Fatal(err)
	}
	defer control.Close()
	defer agent.Off() // before the server drains

	l, err := net.Listen("tcp", ":8080")
	if err != nil {
		log.Fatal(err)
	}
	srv := &http.Server{Handler: meter.Middleware(http.DefaultServeMux), ConnContext: meter.ConnContext}
	log.Print(srv.Serve(meter.Listener(l)))
}

// A worker of a queue: its latency includes the time that a message has waited.
func ExampleMeter_Arrived() {
	var meter live.Meter
	agent := live.New(&meter, live.Unit("message"))
	defer agent.Off()

	queued := time.Now().Add(-time.Second) // as the message says
	work := meter.Arrived(queued)
	work.End(nil)

	retry := meter.Begin() // when it was queued is not known
	retry.End(errors.New("rejected"))

	m := meter.Read()
	fmt.Println(m.Requests, m.Failed, m.Arrival.Count(), m.Arrival.Quantile(0.99) > time.Second/2)
	// Output: 2 1 1 true
}

// The metrics of the last minute are the difference of two readings.
func ExampleHistogram_Since() {
	var meter live.Meter
	before := meter.Read()
	meter.Begin().End(nil)
	after := meter.Read()
	lately := after.Handler.Since(before.Handler)
	for i, n := range lately.Counts {
		if n > 0 {
			fmt.Println(n, live.BucketEnd(i) >= time.Microsecond)
		}
	}
	// Output: 1 true
}

// Mounted in the program's own server, behind its own authentication.
func ExampleAgent_ServeHTTP() {
	agent := live.New(new(live.Meter))
	admin := http.NewServeMux()
	admin.HandleFunc("/internal/procfit/", func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); !ok || user != "admin" || password != "secret" {
			http.Error(w, "not allowed", http.StatusForbidden)
			return
		}
		agent.ServeHTTP(w, r)
	})
}
