package foreign

import (
	"strings"

	"github.com/procfit/procfit/internal/load"
)

// fitsHey leaves out oha, whose text is made after hey's and has other units.
func fitsHey(o *output) bool {
	return o.contains("Summary:", "Status code distribution:") && !o.contains("Success rate:")
}

// readHey reads what hey prints without -o:
//
//	Summary:
//	  Total:	1.0008 secs
//	  Slowest:	0.0120 secs
//	  Average:	0.0020 secs
//	  Requests/sec:	25158.2482
//	Latency distribution:
//	  99% in 0.0057 secs
//	Status code distribution:
//	  [200]	25178 responses
//	Error distribution:
//	  [4]	Get "http://…": EOF
//
// It prints times to a tenth of a millisecond; 0.0000 is no figure. Its
// Requests/sec counts requests that failed, so with failures the throughput is
// its answers over its total time. Its workers send when their answer has come,
// with -q at most so often (requester.go): the clock starts at the send.
func readHey(o *output, r *Report) error {
	h := heyOutput{figures: &r.Figures}
	sections(o.text, func(section string, words []string) {
		switch section {
		case "Summary":
			h.summary(words)
		case "Latency distribution":
			h.latency(words)
		case "Status code distribution":
			h.status(words)
		case "Error distribution":
			if n, ok := bracketed(words[0]); ok {
				h.failed += n
			}
		}
	})
	if h.total == nil || h.printed == nil {
		return unreadable(Hey, "Requests/sec", o)
	}
	f := h.figures
	f.Throughput = h.printed
	if h.failed > 0 {
		pace := h.answered / *h.total
		f.Throughput = &pace
	}
	failed := h.failed + h.bad
	f.Requests, f.Errors = &h.answered, &failed
	return nil
}

// sections gives the words of each line, two at least, with the heading above it: a
// line of its own that is not indented and ends with a colon.
func sections(text []byte, take func(section string, words []string)) {
	section := ""
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if heading := strings.TrimSpace(line); strings.HasSuffix(heading, ":") && line[0] != ' ' && line[0] != '\t' {
			section = strings.TrimSuffix(heading, ":")
			continue
		}
		if len(words) >= 2 {
			take(section, words)
		}
	}
}

// heyOutput is what has been read so far.
type heyOutput struct {
	figures               *Figures
	answered, failed, bad float64
	total, printed        *float64 // seconds, requests a second
}

func (h *heyOutput) summary(words []string) {
	n, ok := load.Number(words[1])
	if !ok || n == 0 {
		return
	}
	switch words[0] {
	case "Total:":
		h.total = &n
	case "Slowest:":
		h.figures.Max = &n
	case "Average:":
		h.figures.Mean = &n
	case "Requests/sec:":
		h.printed = &n
	}
}

// latency reads "99% in 0.0057 secs"; older versions print "99%% in".
func (h *heyOutput) latency(words []string) {
	if len(words) != 4 || words[1] != "in" {
		return
	}
	p, ok := load.Number(strings.TrimRight(words[0], "%"))
	if n, fine := load.Number(words[2]); ok && fine {
		h.figures.setPercentile(p, n)
	}
}

// status reads "[200] 25178 responses".
func (h *heyOutput) status(words []string) {
	status, ok := bracketed(words[0])
	n, fine := load.Number(words[1])
	if !ok || !fine {
		return
	}
	h.answered += n
	if !goodStatus(status) {
		h.bad += n
	}
}

// bracketed reads "[200]".
func bracketed(word string) (float64, bool) {
	inside, ok := strings.CutPrefix(word, "[")
	inside, closed := strings.CutSuffix(inside, "]")
	if !ok || !closed {
		return 0, false
	}
	return load.Number(inside)
}
