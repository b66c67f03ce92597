package traffic

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/maxprocs/live"
)

// trafficJSON is procfit.traffic/v1.
type trafficJSON struct {
	Schema          string       `json:"schema"`
	PID             int          `json:"pid"`
	GoVersion       string       `json:"go_version"`
	Procs           int          `json:"procs"`              // GOMAXPROCS at the end
	LimitCPUs       *float64     `json:"limit_cpus"`         // null: none is known
	Changed         bool         `json:"changed"`            // GOMAXPROCS changed meanwhile
	DurationSeconds float64      `json:"duration_seconds"`   // between the two readings
	Requests        *uint64      `json:"requests"`           // that ended; null, as the next four: the program has no Meter
	PerSecond       *float64     `json:"per_second"`         // of these
	Failed          *uint64      `json:"failed"`             // with a status of 500 or more, an error or a panic
	Panics          *uint64      `json:"panics"`             // of handlers
	InFlight        *uint64      `json:"in_flight"`          // at the end
	CPUs            float64      `json:"cpus"`               // CPU time per second, of the whole process
	CPUSecondsEach  *float64     `json:"cpu_seconds_each"`   // CPU time per request; null: there was none
	GCShare         *float64     `json:"gc_share"`           // of the CPU time; null: no collection ended meanwhile
	LatencyBy       string       `json:"latency_by"`         // arrival, handler or none
	Latency         *latencyJSON `json:"latency"`            // seconds; null: no request ended
	Handler         *latencyJSON `json:"handler,omitempty"`  // seconds in the handler
	CPUShare        *float64     `json:"cpu_share"`          // CPU time per request as a share of its time in the handler; more than 1 is possible, because the CPU time is the whole process's; null: not known
	Streams         uint64       `json:"http2_streams"`      // whose arrival is that of the last read of their connection
	Hijacked        uint64       `json:"hijacked,omitempty"` // connections without a latency
	// Seen is what was seen from outside; what is missing is not known.
	Seen map[string]float64 `json:"seen"`
}

// latencyJSON are percentiles in seconds, each within 6%.
type latencyJSON struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	N   uint64  `json:"n"`
}

func latencyOf(h live.Histogram) *latencyJSON {
	if h.Count() == 0 {
		return nil
	}
	q := func(q float64) float64 { return h.Quantile(q).Seconds() }
	return &latencyJSON{q(0.5), q(0.9), q(0.99), h.Count()}
}

// String has the number of requests: of few, a p99 is the slowest one.
func (l *latencyJSON) String() string {
	return fmt.Sprintf("p50 %s, p90 %s, p99 %s, of %s", short(l.P50), short(l.P90), short(l.P99), phrase.Count(int64(l.N), "request"))
}

func (w Watched) WriteJSON(out io.Writer) error {
	doc := trafficJSON{
		Schema: "procfit.traffic/v1", PID: w.PID, GoVersion: w.GoVersion, Procs: w.Procs, Changed: w.Changed, DurationSeconds: w.Duration.Seconds(),
		Seen: w.Seen, CPUs: w.CPU / w.Duration.Seconds(),
		LatencyBy: w.by(), Latency: latencyOf(w.latency()), Handler: latencyOf(w.Handler), Streams: w.Streams, Hijacked: w.Hijacked,
	}
	if w.Metered {
		doc.Requests, doc.PerSecond, doc.Failed, doc.Panics, doc.InFlight = &w.Requests, new(w.rate()), &w.Failed, &w.Panics, &w.InFlight
	}
	if w.Limit > 0 {
		doc.LimitCPUs = &w.Limit
	}
	if w.Requests > 0 {
		doc.CPUSecondsEach = new(w.CPU / float64(w.Requests))
	}
	if share, known := w.computes(); known {
		doc.CPUShare = &share
	}
	if w.GCCycles > 0 && w.CPU > 0 {
		doc.GCShare = new(w.GCCPU / w.CPU)
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

func (w Watched) by() string {
	switch {
	case w.Stamped:
		return "arrival"
	case w.Handler.Count() > 0:
		return "handler"
	}
	return "none"
}

func (w Watched) WriteText(out io.Writer, o text.Options) error {
	return text.Render(out, w.document(), o)
}

func (w Watched) document() *document.Document {
	procs := fmt.Sprint(w.Procs)
	if w.Limit > 0 {
		procs += ", with a CPU limit of " + number.BareCPUs(w.Limit)
	}
	pairs := document.Pairs{{Name: "GOMAXPROCS", Value: procs}}
	add := func(name, value string) { pairs = append(pairs, document.Pair{Name: name, Value: value}) }
	if w.Metered {
		count := fmt.Sprintf("%s per second, %s in flight at the end", number.Count(w.rate()), number.Count(float64(w.InFlight)))
		if w.Failed > 0 {
			count += fmt.Sprintf(", %s failed", number.Count(float64(w.Failed)))
		}
		add("Requests", count)
	}
	if w.Requests > 0 {
		add("CPU per request", short(w.CPU/float64(w.Requests)))
	}
	add("CPU used", number.CPUsUsed(w.CPU/w.Duration.Seconds()))
	if w.GCCycles > 0 && w.CPU > 0 {
		add("Garbage collector", fmt.Sprintf("%s of the CPU time, in %s", number.Share(w.GCCPU/w.CPU), phrase.Count(int64(w.GCCycles), "cycle")))
	}
	if l := latencyOf(w.latency()); l != nil {
		add("Latency", l.String())
	}
	if l := latencyOf(w.Handler); l != nil && w.Stamped {
		add("In the handler", l.String())
	}
	if share, known := w.computes(); known {
		add("Kind of work", kind(share))
	}
	for _, row := range rows {
		if x, known := w.Seen[row.metric]; known {
			add(row.name, row.unit.Value(x))
		}
	}
	title := fmt.Sprintf("Process %d under its own traffic, for %s", w.PID, number.Short(number.Duration(w.Duration)))
	d := &document.Document{Title: title, Blocks: []document.Block{document.Text{Text: title, Style: document.Strong}, pairs}}
	if notes := w.notes(); len(notes) > 0 {
		d.Add(document.Notes(notes))
	}
	return d
}

// rows are the lines of what is seen from outside, by the names that verdict/live has for it.
var rows = []struct {
	metric, name string
	unit         number.Unit
}{
	{"unread", "Connections with unread requests", number.Plain("")},
	{"sched_p99", "Scheduling latency p99", number.Time()},
	{"runnable", "Goroutines waiting for a CPU", number.Plain("")},
	{"context_switches", "Context switches per second", number.Plain("")},
	{"throttled", "Periods throttled by the CPU limit", number.Ratio()},
	{"other_cpus", "CPUs used by other programs", number.Plain("")},
}

// computes is the CPU time per request as a share of its time in the handler. The CPU time is
// that of the whole process, so that it may be more.
func (w Watched) computes() (share float64, known bool) {
	if w.Requests == 0 || w.Handler.Count() == 0 || !(w.Handler.Sum > 0) {
		return 0, false
	}
	share = w.CPU / float64(w.Requests) / (w.Handler.Sum / float64(w.Handler.Count()))
	return share, share <= math.MaxFloat64
}

// kind is what a request mostly does. Unlike the use of the CPUs, it does not depend on the
// number of requests.
func kind(share float64) string {
	if share >= 1 {
		return "CPU time is at least the time in the handler: the program computes, in requests or next to them"
	}
	return fmt.Sprintf("CPU time is %s of the time in the handler; the rest is waiting, for I/O, a lock or a CPU", number.Share(share))
}

func short(seconds float64) string { return number.Time().Number(seconds) }

func (w Watched) notes() (list []document.Note) {
	add := func(message, fix string) { list = append(list, document.Note{Message: message, Fix: fix}) }
	switch {
	case !w.Metered:
		who := strconv.Itoa(w.PID)
		send := "procfit live " + who + " --rate 100 --url URL"
		if w.Port > 0 {
			who = ":" + strconv.Itoa(w.Port)
			send = "procfit live " + who + " --rate 100"
		}
		add("its requests are not known, because nothing in the program counts them", "to send some and see their latency: "+send)
		values := "auto"
		if w.Procs == 1 { // auto has no value above the one at start
			values = "1,2"
		}
		if w.Procs > 1 || w.Limit == 0 || w.Limit > 1 { // else the limit would throttle it with 2
			list = append(list, document.Note{Quiet: true, Message: "to try other values under its own traffic: procfit live " + who + " --procs " + values})
		}
	case w.Requests == 0:
		add("no request ended in this time", "watch longer with --for, or check that requests go through the Meter's Middleware")
	case !w.Stamped && w.Handler.Count() > 0: // hijacked connections have no latency
		add("the latency is the time in the handler: it omits the wait before it, which a GOMAXPROCS that is too low makes longer", "serve connections of the Meter's Listener, with ConnContext")
	case w.Streams > 0:
		add(fmt.Sprintf("%s of HTTP/2: their latency starts at the last read of their connection", phrase.Count(int64(w.Streams), "request")), "")
	}
	if w.Changed {
		add("GOMAXPROCS changed during the measurement", "")
	}
	return list
}
