package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/load"
)

type output struct {
	printed []byte
	text    string // with one space between words and none at the ends of a line
	objects []json.RawMessage
}

func newOutput(printed load.Output) *output {
	o := &output{printed: printed.Head}
	if printed.Cut {
		o.printed = slices.Concat(printed.Head, []byte("\n"), printed.Tail)
	}
	var text strings.Builder
	for line := range strings.Lines(string(o.printed)) {
		text.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
	}
	o.text, o.objects = text.String(), findObjects(o.printed)
	return o
}

// badObjects bounds how many things may start like an object without being one.
const badObjects = 20

// findObjects finds the JSON objects at the beginning of a line: logs may be around a summary.
func findObjects(text []byte) (list []json.RawMessage) {
	for bad := 0; len(text) > 0 && bad < badObjects; {
		if text[0] == '{' {
			var raw json.RawMessage
			d := json.NewDecoder(bytes.NewReader(text))
			if d.Decode(&raw) == nil {
				list = append(list, raw)
				text = text[d.InputOffset():]
				continue
			}
			bad++
		}
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return list
}

func (o *output) with(fields ...string) (list []json.RawMessage) {
	for _, raw := range o.objects {
		var has map[string]json.RawMessage
		if json.Unmarshal(raw, &has) == nil && !slices.ContainsFunc(fields, func(f string) bool { return has[f] == nil }) {
			list = append(list, raw)
		}
	}
	return list
}

// find is the text in which the figures of the format are; empty: there is none.
func (f format) find(o *output) string {
	if len(f.fields) > 0 {
		var lines strings.Builder
		for _, raw := range o.with(f.fields...) {
			d := json.NewDecoder(bytes.NewReader(raw))
			d.UseNumber()
			var v any
			if d.Decode(&v) == nil {
				flatten(&lines, "", v, 0)
			}
		}
		return lines.String()
	}
	lacks := func(e regex) bool { return !e().MatchString(o.text) }
	if slices.ContainsFunc(f.has, lacks) || f.lacks != "" && strings.Contains(o.text, f.lacks) {
		return ""
	}
	return o.text
}

// deepest is how deep in an object figures are looked for.
const deepest = 4

// flatten writes a line with the path of each number or string: "latencies.50th 338720".
func flatten(to *strings.Builder, at string, v any, depth int) {
	switch v := v.(type) {
	case map[string]any:
		if depth < deepest {
			for _, name := range slices.Sorted(maps.Keys(v)) {
				flatten(to, at+"."+name, v[name], depth+1)
			}
		}
	case []any: // no figure is in a list
	default:
		fmt.Fprintf(to, "%s %v\n", strings.TrimPrefix(at, "."), v)
	}
}

// read finds the figures in the text, and whether what a summary has once is there again.
func (f format) read(text string) (_ Figures, repeated bool) {
	r := reading{Figures: Figures{}, unit: f.unit, sums: map[string]float64{}}
	r.repeated = slices.ContainsFunc(f.once, func(e regex) bool { return len(e().FindAllStringIndex(text, 2)) > 1 })
	for _, e := range f.figures {
		r.adds = r.adds || e.find().SubexpIndex("failed") > 0 || e.find().SubexpIndex("lost") > 0 || e.find().SubexpIndex("status") > 0
		parts := []string{text}
		if e.within != nil {
			parts = e.within().FindAllString(text, -1)
		}
		for _, part := range parts {
			for _, match := range e.find().FindAllStringSubmatch(part, -1) {
				groups := map[string]string{}
				for i, name := range e.find().SubexpNames() {
					groups[name] = match[i]
				}
				r.take(groups)
			}
		}
	}
	return r.conclude(), r.repeated
}

type reading struct {
	Figures
	unit float64 // seconds of a time; 0: it has its unit

	sums    map[string]float64 // of failed, lost and answered
	adds    bool               // errors are added up, so that none means 0
	counted bool               // requests were, by their status

	sent, seconds float64
	repeated      bool // what a summary has once was found again
}

// take adds the groups of one match; see expression.
func (r *reading) take(groups map[string]string) {
	r.setPercentile(groups["p"], groups["time"])
	values := strings.Split(groups["values"], ", ")
	for i, name := range strings.Split(groups["names"], ", ") {
		if i < len(values) {
			r.setPercentile(name, values[i])
			r.setTime(name, values[i])
		}
	}
	if status, ok := load.Number(groups["status"]); ok {
		n, _ := load.Number(groups["count"])
		r.count(status, n)
	}
	for name, text := range groups {
		n, ok := load.Number(text)
		switch {
		case name == "mean" || name == "max" || name == "p50":
			r.setTime(name, text)
		case !ok:
		case name == "requests" || name == "errors" || name == "throughput":
			r.repeated = r.repeated || r.Get(name) != nil
			r.Figures[name] = n
		case name == "lost":
			r.count(0, n)
		case name == "sent":
			r.repeated = r.repeated || r.sent > 0
			r.sent = n
		case name == "seconds":
			r.seconds = n
		default: // failed
			r.sums[name] += n
		}
	}
}

// count adds answers of a status; 0 is for requests that have none.
func (r *reading) count(status, n float64) {
	r.counted = true
	if status > 0 {
		r.sums["answered"] += n
	} else {
		r.sums["lost"] += n
	}
	if status < 200 || status >= 400 {
		r.sums["failed"] += n
	}
}

func (r *reading) setPercentile(p, text string) {
	if p, ok := load.Number(p); ok {
		r.setTime("p"+strconv.FormatFloat(p, 'g', -1, 64), text)
	}
}

// setTime sets a time that is not set. 0 is printed if there is none: no request takes no time.
func (r *reading) setTime(name, text string) {
	if r.Get(name) != nil || name != "p99.9" && !slices.Contains(reserved, name) {
		return
	}
	v, ok := load.Number(text)
	v *= r.unit
	if r.unit == 0 {
		v, ok = load.Seconds(text)
	}
	if ok && v > 0 {
		r.Figures[name] = v
	}
}

func (r *reading) conclude() Figures {
	if r.counted {
		r.Figures["requests"] = r.sums["answered"]
	}
	if r.adds {
		r.Figures["errors"] = r.sums["failed"]
	}
	switch {
	case r.sent > 0 && r.sums["lost"] == 0:
		r.Figures["throughput"] = r.sent
	case r.sent > 0 && r.seconds > 0:
		r.Figures["throughput"] = r.sums["answered"] / r.seconds
	}
	return r.Figures
}
