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

// A server whose requests are measured from their arrival. While it is ready, procfit can
// try values of up to 8 in it, and higher ones only if it starts with more than 8.
func Example() {
	var meter live.Meter
	var ready atomic.Bool
	defer live.Allow(&meter, live.Max(8), live.Refuse(func() error {
		if !ready.Load() {
			return errors.New("not ready")
		}
		return nil
	}))()

	l, err := net.Listen("tcp", ":8080")
	if err != nil {
		log.Fatal(err)
	}
	ready.Store(true)
	srv := &http.Server{Handler: meter.Middleware(http.DefaultServeMux), ConnContext: meter.ConnContext}
	log.Print(srv.Serve(meter.Listener(l)))
}

// A worker of a queue: its latency includes the time that a message has waited.
func ExampleMeter_Arrived() {
	var meter live.Meter

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
