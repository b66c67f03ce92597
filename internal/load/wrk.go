package load

import (
	"fmt"
	"strings"
)

// ParseWrk reads what wrk (4.x) and wrk2 print:
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
func ParseWrk(output []byte) (*Figures, error) {
	f := &Figures{}
	var failed float64
	for line := range strings.Lines(string(output)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 5 && words[0] == "Latency" && f.Mean == nil:
			setSeconds(&f.Mean, words[1])
			setSeconds(&f.Max, words[3])
		case len(words) == 2 && strings.HasSuffix(words[0], "%"):
			if p, ok := number(strings.TrimSuffix(words[0], "%")); ok {
				if to := f.percentile(p); to != nil && *to == nil {
					setSeconds(to, words[1])
				}
			}
		case len(words) >= 4 && words[1] == "requests" && words[2] == "in":
			if n, ok := number(words[0]); ok {
				f.Requests = &n
			}
		case strings.HasPrefix(strings.TrimSpace(line), "Socket errors:"):
			for i, word := range words {
				switch word {
				case "connect", "read", "write", "timeout":
					if i+1 < len(words) {
						n, _ := number(strings.TrimSuffix(words[i+1], ","))
						failed += n
					}
				}
			}
		case strings.HasPrefix(strings.TrimSpace(line), "Non-2xx or 3xx responses:"):
			n, _ := number(words[len(words)-1])
			failed += n
		case len(words) == 2 && words[0] == "Requests/sec:":
			if n, ok := number(words[1]); ok {
				f.Throughput = &n
			}
		}
	}
	if f.Requests == nil || f.Throughput == nil {
		return nil, unreadable(GeneratorWrk, "Requests/sec", output)
	}
	f.Errors = &failed
	return f, nil
}

// setSeconds sets a time, unless it is 0: no request takes none.
func setSeconds(to **float64, text string) {
	if v, ok := seconds(text); ok && v > 0 {
		*to = &v
	}
}

func unreadable(g Generator, what string, output []byte) error {
	return fmt.Errorf("no %q in the output of %s; %s", what, g, tail(output))
}
