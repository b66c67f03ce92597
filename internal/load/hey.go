package load

import "strings"

// ParseHey reads what hey prints without -o:
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
// its answers over its total time.
func ParseHey(output []byte) (*Figures, error) {
	h := heyOutput{figures: &Figures{}}
	section := ""
	for line := range strings.Lines(string(output)) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if text := strings.TrimSpace(line); strings.HasSuffix(text, ":") && line[0] != ' ' && line[0] != '\t' {
			section = strings.TrimSuffix(text, ":")
			continue
		}
		if len(words) < 2 {
			continue
		}
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
	}
	if h.total == nil || h.printed == nil {
		return nil, unreadable(GeneratorHey, "Requests/sec", output)
	}
	f := h.figures
	f.Throughput = h.printed
	if h.failed > 0 {
		pace := h.answered / *h.total
		f.Throughput = &pace
	}
	failed := h.failed + h.bad
	f.Requests, f.Errors = &h.answered, &failed
	return f, nil
}

// heyOutput is what has been read so far.
type heyOutput struct {
	figures               *Figures
	answered, failed, bad float64
	total, printed        *float64 // seconds, requests a second
}

func (h *heyOutput) summary(words []string) {
	n, ok := number(words[1])
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
	p, ok := number(strings.TrimRight(words[0], "%"))
	n, fine := number(words[2])
	if to := h.figures.percentile(p); ok && fine && to != nil && n > 0 {
		*to = &n
	}
}

// status reads "[200] 25178 responses".
func (h *heyOutput) status(words []string) {
	status, ok := bracketed(words[0])
	n, fine := number(words[1])
	if !ok || !fine {
		return
	}
	h.answered += n
	if status < 200 || status >= 400 {
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
	return number(inside)
}
