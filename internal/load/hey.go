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
	f := &Figures{}
	var answered, failed, bad float64
	var total, printed *float64
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
		switch section {
		case "Summary":
			if len(words) < 2 {
				continue
			}
			n, ok := number(words[1])
			if !ok || n == 0 {
				continue
			}
			switch words[0] {
			case "Total:":
				total = &n
			case "Slowest:":
				f.Max = &n
			case "Average:":
				f.Mean = &n
			case "Requests/sec:":
				printed = &n
			}
		case "Latency distribution":
			// Older versions print "99%% in".
			if len(words) == 4 && words[1] == "in" {
				p, ok := number(strings.TrimRight(words[0], "%"))
				n, fine := number(words[2])
				if to := f.percentile(p); ok && fine && to != nil && n > 0 {
					*to = &n
				}
			}
		case "Status code distribution", "Error distribution":
			if len(words) < 2 {
				continue
			}
			bracket := words[0]
			if !strings.HasPrefix(bracket, "[") || !strings.HasSuffix(bracket, "]") {
				continue
			}
			inside, ok := number(bracket[1 : len(bracket)-1])
			if !ok {
				continue
			}
			if section == "Error distribution" {
				failed += inside
				continue
			}
			n, ok := number(words[1])
			if !ok {
				continue
			}
			answered += n
			if inside < 200 || inside >= 400 {
				bad += n
			}
		}
	}
	if total == nil || printed == nil {
		return nil, unreadable(GeneratorHey, "Requests/sec", output)
	}
	f.Throughput = printed
	if failed > 0 {
		pace := answered / *total
		f.Throughput = &pace
	}
	failed += bad
	f.Requests, f.Errors = &answered, &failed
	return f, nil
}
