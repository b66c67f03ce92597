package foreign

import (
	"strings"

	"github.com/procfit/procfit/internal/load"
)

// h2load's clients have so many streams each that send when an answer has come, at
// most --rps often; its clock starts at the send (its manual, "time for request").

func fitsH2load(o *output) bool { return o.contains("finished in ", "time for request:") }

// readH2load reads what h2load prints. It has no percentiles:
//
//	finished in 2.00s, 18131.50 req/s, 478.67KB/s
//	requests: 5000 total, 5000 started, 5000 done, 4500 succeeded, 500 failed, 0 errored, 0 timeout
//	                     min         max         mean         sd        +/- sd
//	time for request:       31us    163.00ms      1.69ms      5.78ms    96.65%
//
// Errored requests, those without an answer, are among the failed ones.
func readH2load(o *output, r *Report) error {
	for line := range strings.Lines(string(o.text)) {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "finished in ") && len(words) > 4 && words[4] == "req/s,":
			if v, ok := load.Number(words[3]); ok {
				r.Throughput = &v
			}
		case strings.HasPrefix(line, "requests: "):
			done, _ := load.Number(before(words, "done,"))
			failed, _ := load.Number(before(words, "failed,"))
			errored, _ := load.Number(before(words, "errored,"))
			setNumber(&r.Requests, done-errored)
			setNumber(&r.Errors, failed)
		case strings.HasPrefix(line, "time for request:") && len(words) == 8:
			setSeconds(&r.Max, words[4])
			setSeconds(&r.Mean, words[5])
		}
	}
	if r.Requests == nil || r.Throughput == nil {
		return unreadable(H2load, "finished in … req/s", o)
	}
	return nil
}

// before is the word in front of another; empty where there is none.
func before(words []string, word string) string {
	for i := 1; i < len(words); i++ {
		if words[i] == word {
			return words[i-1]
		}
	}
	return ""
}
