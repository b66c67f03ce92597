package foreign

import (
	"strings"

	"github.com/procfit/procfit/internal/load"
)

func fitsWrk(o *output) bool { return o.contains("Thread Stats", "Requests/sec:") }

// fitsWrk2 tells wrk2 by what it alone prints: the calibration of its threads, and
// which latency its distribution is of.
func fitsWrk2(o *output) bool {
	return fitsWrk(o) && (o.contains("Thread calibration:") || o.contains("(HdrHistogram - Recorded Latency)"))
}

// readWrk reads what wrk (4.x) and wrk2 print:
//
//	Thread Stats   Avg      Stdev     Max   +/- Stdev
//	  Latency     1.16ms    0.87ms  29.19ms   88.45%
//	Latency Distribution
//	   99%    4.97ms
//	47856 requests in 1.01s, 5.89MB read
//	Socket errors: connect 0, read 3834, write 0, timeout 0
//	Non-2xx or 3xx responses: 4907
//	Requests/sec:  47341.77
//
// The distribution is there with --latency only. wrk leaves requests that ran
// into its time-out out of its latencies; where it printed 0 for lack of any,
// there is no figure.
//
// wrk's loop is closed and its clock starts at the send. wrk2's starts when the send
// was due by -R (its README, "A note about wrk2's latency measurement technique"); with
// -U it prints the uncorrected latency behind the one that counts.
func readWrk(o *output, r *Report) error {
	f := &r.Figures
	var failed float64
	for line := range strings.Lines(string(o.text)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 5 && words[0] == "Latency" && f.Mean == nil:
			setSeconds(&f.Mean, words[1])
			setSeconds(&f.Max, words[3])
		case len(words) == 2 && strings.HasSuffix(words[0], "%"):
			p, ok := load.Number(strings.TrimSuffix(words[0], "%"))
			if v, fine := load.Seconds(words[1]); ok && fine {
				f.setPercentile(p, v)
			}
		case len(words) >= 4 && words[1] == "requests" && words[2] == "in":
			if n, ok := load.Number(words[0]); ok {
				f.Requests = &n
			}
		case strings.HasPrefix(strings.TrimSpace(line), "Socket errors:"):
			failed += socketErrors(words)
		case strings.HasPrefix(strings.TrimSpace(line), "Non-2xx or 3xx responses:"):
			n, _ := load.Number(words[len(words)-1])
			failed += n
		case len(words) == 2 && words[0] == "Requests/sec:":
			if n, ok := load.Number(words[1]); ok {
				f.Throughput = &n
			}
		}
	}
	if f.Requests == nil || f.Throughput == nil {
		return unreadable(r.Generator, "Requests/sec", o)
	}
	f.Errors = &failed
	return nil
}

// socketErrors adds up "Socket errors: connect 0, read 3834, write 0, timeout 0".
func socketErrors(words []string) (sum float64) {
	for i, word := range words {
		switch word {
		case "connect", "read", "write", "timeout":
			if i+1 < len(words) {
				n, _ := load.Number(strings.TrimSuffix(words[i+1], ","))
				sum += n
			}
		}
	}
	return sum
}
