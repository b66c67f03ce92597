package foreign

import (
	"regexp"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/pattern"
)

// format is how one generator prints, and what its latency counts from.
type format struct {
	name generator

	// What the output has: fields of a JSON object, or else text that all of the
	// expressions in has match and the one in lacks does not.
	fields []string
	has    []regex
	lacks  string

	unit    float64 // seconds of a time, which is printed without a unit; 0: it is printed with one
	figures []expression
	once    []regex // what one summary has once, where the figures do not show that there are several

	clock   Clock
	other   Clock // if otherIf holds
	otherIf func(command, text string) bool
}

// expression finds figures in an output by its named groups:
//
//   - requests, errors, throughput, mean, max, p50: a figure. Of a time the first one is used.
//   - p and time: a percentile and its time; names and values: lists of both.
//   - status and count: answers of a status; the status 0 is for requests without one.
//   - failed: one more number of errors.
//   - lost: requests without an answer.
//   - sent and seconds: a throughput that includes what was lost, and its time.
type expression struct {
	within regex // the parts of the output to look at; nil: all of it
	find   regex
}

// regex is compiled when it is first used.
type regex = func() *regexp.Regexp

func compile(list ...string) (all []regex) {
	for _, text := range list {
		all = append(all, pattern.Of("(?m)"+text))
	}
	return all
}

func find(list ...string) []expression { return findIn("", list...) }

func findIn(within string, list ...string) (all []expression) {
	for _, e := range compile(list...) {
		x := expression{find: e}
		if within != "" {
			x.within = compile(within)[0]
		}
		all = append(all, x)
	}
	return all
}

// wrkFigures are those of wrk (4.x) and wrk2, as in testdata/wrk_latency.txt. The distribution
// is printed only with --latency. With -U wrk2 prints the uncorrected latency below the one that
// counts. Requests that ran into wrk's time-out are not in its latencies.
var wrkFigures = slices.Concat(find(
	`^Latency (?P<mean>\S+) \S+ (?P<max>\S+) \S+$`,
	`^(?P<p>[\d.]+)% (?P<time>\S+)$`,
	`^(?P<requests>\d+) requests in `,
	`^Non-2xx or 3xx responses: (?P<failed>\d+)$`,
	`^Requests/sec: (?P<throughput>\S+)$`,
), findIn(`^Socket errors:.*`, `(?:connect|read|write|timeout) (?P<failed>\d+)`))

// formats has the more particular first: hey's text is part of several. Lines are as
// in testdata, with one space between words; a JSON object is lines of paths and values.
var formats = []format{
	{
		// vegeta report -type json, and below its text. vegeta sends when a request is due
		// and starts another worker if all are busy, so that no request waits, unless
		// -max-workers bounds them (lib/attack.go); its clock starts at the send. The
		// throughput is of good answers.
		name: vegeta, clock: ClockPaced, other: ClockSend, otherIf: boundedVegeta,
		fields: []string{"latencies", "status_codes", "throughput", "requests"},
		unit:   1e-9,
		figures: find(
			`^throughput (?P<throughput>\S+)$`,
			`^latencies\.(?P<p>\d+)th (?P<time>\S+)$`,
			`^latencies\.mean (?P<mean>\S+)$`,
			`^latencies\.max (?P<max>\S+)$`,
			`^status_codes\.(?P<status>\d+) (?P<count>\S+)$`,
		),
	},
	{
		name: vegeta, clock: ClockPaced, other: ClockSend, otherIf: boundedVegeta,
		has: compile(`\[total, rate, throughput\]`, `\[code:count\]`),
		figures: slices.Concat(find(
			`^Requests \[.*\] \S+, \S+, (?P<throughput>\S+)$`,
			`^Latencies \[(?P<names>.*)\] (?P<values>.*)$`,
		), findIn(`^Status Codes .*`, `\b(?P<status>\d+):(?P<count>\d+)`)),
	},
	{
		//	http_req_duration..............: avg=711.65µs min=170.56µs med=390.72µs max=26.16ms p(90)=517.05µs p(99)=7.78ms
		//	http_req_failed................: 9.97% 40 out of 401
		//	http_reqs......................: 401   200.327273/s
		//
		// It prints a p99 with summaryTrendStats: ['avg','min','med','max','p(90)','p(99)'].
		// k6 starts an iteration when it is due, if its executor has an arrival rate and a
		// virtual user is free; else it counts a dropped iteration (its documentation, "Open
		// and closed models"). Its clock starts at the send, after the connection is made.
		// Which executor ran is printed above the summary, without --quiet.
		//
		// The summary of versions before 1.0, and of --summary-mode legacy, has a mark before
		// a metric with a threshold, and other words in those versions:
		//
		//	✗ http_req_failed................: 9.97%  ✓ 40       ✗ 361
		//
		// With --summary-mode full the same metrics of each group and scenario follow: the
		// first are those of the whole run.
		name: k6, clock: ClockSend, other: ClockPaced, otherIf: pacedK6,
		has: compile(`http_reqs\.`, `http_req_duration\.`),
		figures: slices.Concat(findIn(`(?s)\A.*?^(?:[✓✗] )?http_reqs\.*: [^\n]*`,
			`^(?:[✓✗] )?http_req_failed\.*: \S+ (?:✓ )?(?P<errors>\d+) (?:out of|✗) `,
			`^(?:[✓✗] )?http_reqs\.*: (?P<requests>\S+) (?P<throughput>\S+)/s$`,
		), findIn(`^(?:[✓✗] )?http_req_duration\.*: .*`,
			`avg=(?P<mean>\S+)`, `max=(?P<max>\S+)`, `med=(?P<p50>\S+)`, `p\((?P<p>[\d.]+)\)=(?P<time>\S+)`)),
		once: compile(`^█ TOTAL RESULTS$`, `^execution: local$`),
	},
	{
		// wrk2's clock starts when the send was due by -R (its README, "A note about wrk2's
		// latency measurement technique"). It alone prints the calibration of its threads,
		// and which latency its distribution is of.
		name: wrk2, clock: ClockIntended, figures: wrkFigures,
		has: compile(`Thread Stats`, `Requests/sec:`, `Thread calibration:|\(HdrHistogram - Recorded Latency\)`),
	},
	{
		// wrk's loop is closed, and its clock starts at the send.
		name: wrk, clock: ClockSend, figures: wrkFigures,
		has: compile(`Thread Stats`, `Requests/sec:`),
	},
	{
		// This is hey without -o; older versions print "99%% in". It prints times to a tenth
		// of a millisecond. Its workers send when their answer has come, at the rate of -q at
		// most (requester.go): the clock starts at the send. The summaries of oha and ghz have
		// the same headings: oha's has the rate of success, and ghz's other units.
		name: hey, clock: ClockSend,
		has: compile(`Summary:`, `Status code distribution:`, `^Total: \S+ secs$`), lacks: "Success rate:",
		unit: 1,
		figures: find(
			`^Total: (?P<seconds>\S+) secs$`,
			`^Slowest: (?P<max>\S+) secs$`,
			`^Average: (?P<mean>\S+) secs$`,
			`^Requests/sec: (?P<sent>\S+)$`,
			`^(?P<p>[\d.]+)%+ in (?P<time>\S+) secs$`,
			`^\[(?P<status>\d+)\] (?P<count>\d+) responses$`,
			`^\[(?P<lost>\d+)\] \D`,
		),
	},
}

func boundedVegeta(command, _ string) bool { return has(command, "-max-workers", "--max-workers") }

func pacedK6(_, text string) bool {
	return strings.Contains(text, " iterations/s ") && !strings.Contains(text, " looping VUs") &&
		!strings.Contains(text, "dropped_iterations.") && !strings.Contains(text, " shared among ")
}

// has reports whether a command has one of the words, also in a script or as --word=value.
func has(command string, words ...string) bool {
	fields := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;|&='\"", r) })
	return slices.ContainsFunc(fields, func(f string) bool { return slices.Contains(words, f) })
}
