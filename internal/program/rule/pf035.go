package rule

func neverTold() Rule {
	return Rule{
		ID:       "PF035",
		Title:    "a server that never reports its GOMAXPROCS",
		Severity: Info,
		Since:    "0.1",
		By:       "source",
		Why: `Nobody sees which value a program has taken unless it says so, and a wrong one looks
like a slow program. It is reported for a main package that listens, where neither its
module asks for the value nor anything that it imports is known to export it: a Go
collector of Prometheus (client_golang 1.20), OpenTelemetry's runtime metrics,
runtime/metrics, automaxprocs or maxprocs/auto.`,
		Fix: `Log runtime.GOMAXPROCS(0) at the start, or export it as a metric.`,
	}
}
