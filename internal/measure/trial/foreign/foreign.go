package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/verdict/journal"
)

// Generator is a load generator whose output is known.
type Generator string

const (
	Unknown Generator = "" // figures come from metrics alone
	Wrk     Generator = "wrk"
	Wrk2    Generator = "wrk2"
	Hey     Generator = "hey"
	Oha     Generator = "oha"
	Vegeta  Generator = "vegeta"
	Fortio  Generator = "fortio"
	K6      Generator = "k6"
	Ghz     Generator = "ghz"
	H2load  Generator = "h2load"
	Procfit Generator = "procfit"
)

// Clock is what a generator's latency counts from.
type Clock string

const (
	ClockUnknown Clock = ""
	// ClockIntended is the moment at which a request was due.
	ClockIntended Clock = "intended"
	// ClockPaced is the actual send, which comes when it is due whatever still waits,
	// as connections or workers are added without bound. A request waits for no other.
	ClockPaced Clock = "paced"
	// ClockSend is the actual send, which waits for a free connection or worker: a
	// stall of the server keeps from being sent what it would have made late.
	ClockSend Clock = "send"
)

// Judged tells whether a latency by this clock may be compared. Of a generator that
// is not known its user vouches for it.
func (c Clock) Judged() bool { return c != ClockSend }

// Figures are what was printed. Times are in seconds; nil is what was not said.
type Figures struct {
	Requests   *float64 // answered, whatever the status
	Errors     *float64 // bad statuses and requests without an answer
	Throughput *float64 // answers a second
	P50        *float64
	P75        *float64
	P90        *float64
	P99        *float64
	P999       *float64
	Max        *float64
	Mean       *float64
}

// Report is what a generator said of a run.
type Report struct {
	Generator Generator
	Clock     Clock
	Figures
	Offered *journal.Offered // of procfit load --json, in full
}

// Names lists the generators for help texts.
func Names() string {
	var names []string
	for _, f := range formats() {
		names = append(names, string(f.name))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// output is what was printed, and the JSON objects in it.
type output struct {
	text    []byte
	objects []object
}

// format is how one generator prints.
type format struct {
	name  Generator
	fits  func(o *output) bool
	read  func(o *output, r *Report) error
	clock func(command string, o *output) Clock
}

// formats has the more particular first: hey's text is part of several.
func formats() []format {
	return []format{
		{Procfit, fitsOurs, readOurs, nil},
		{Fortio, fitsFortioJSON, readFortioJSON, always(ClockSend)},
		{Vegeta, fitsVegetaJSON, readVegetaJSON, clockVegeta},
		{Ghz, fitsGhzJSON, readGhzJSON, clockGhz},
		{Oha, fitsOhaJSON, readOhaJSON, clockOha},
		{Fortio, fitsFortio, readFortio, always(ClockSend)},
		{Vegeta, fitsVegeta, readVegeta, clockVegeta},
		{H2load, fitsH2load, readH2load, always(ClockSend)},
		{K6, fitsK6, readK6, clockK6},
		{Ghz, fitsGhz, readGhz, clockGhz},
		{Wrk2, fitsWrk2, readWrk, always(ClockIntended)},
		{Wrk, fitsWrk, readWrk, always(ClockSend)},
		{Hey, fitsHey, readHey, always(ClockSend)},
	}
}

func always(c Clock) func(string, *output) Clock {
	return func(string, *output) Clock { return c }
}

// Read reads what a command printed. Of a generator that is not known it finds
// nothing; a known one that printed something else is an error.
func Read(argv []string, printed load.Output) (*Report, error) {
	text := printed.Head
	if printed.Cut {
		text = slices.Concat(printed.Head, []byte("\n"), printed.Tail)
	}
	o := &output{text: text, objects: findObjects(text)}
	command := strings.Join(argv, " ")
	for _, f := range formats() {
		if !f.fits(o) {
			continue
		}
		r := &Report{Generator: f.name}
		if err := f.read(o, r); err != nil {
			return nil, err
		}
		if f.clock != nil {
			r.Clock = f.clock(command, o)
		}
		return r, nil
	}
	if name := named(argv); name != Unknown {
		return nil, fmt.Errorf("the output of %s is none that procfit knows; %s", name, load.QuoteEnd(text))
	}
	return &Report{}, nil
}

// named is the generator that a word of the command names, so that 'ssh box wrk …'
// and 'taskset -c 3 /usr/bin/hey …' count. A script that is called load, or procfit,
// may print what it likes.
func named(argv []string) Generator {
	for _, word := range argv {
		name := Generator(strings.TrimSuffix(path.Base(word), ".exe"))
		if name != Procfit && slices.ContainsFunc(formats(), func(f format) bool { return f.name == name }) {
			return name
		}
	}
	return Unknown
}

// has tells whether a command has one of the words, also within a script or as
// --word=value.
func has(command string, words ...string) bool {
	fields := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n;|&='\"", r) })
	return slices.ContainsFunc(fields, func(f string) bool { return slices.Contains(words, f) })
}

func (o *output) contains(all ...string) bool {
	return !slices.ContainsFunc(all, func(s string) bool { return !bytes.Contains(o.text, []byte(s)) })
}

func unreadable(g Generator, what string, o *output) error {
	return fmt.Errorf("no %q in the output of %s; %s", what, g, load.QuoteEnd(o.text))
}

// object is a JSON object that was printed.
type object struct {
	raw    json.RawMessage
	fields map[string]json.RawMessage
}

func (j object) has(names ...string) bool {
	return !slices.ContainsFunc(names, func(n string) bool { _, ok := j.fields[n]; return !ok })
}

// with is the last object that has the fields, or nil.
func (o *output) with(names ...string) *object {
	for i := len(o.objects) - 1; i >= 0; i-- {
		if o.objects[i].has(names...) {
			return &o.objects[i]
		}
	}
	return nil
}

// badObjects bounds how often something that begins like an object may be none.
const badObjects = 20

// findObjects finds the JSON objects that begin at the beginning of a line, since
// logs stand before and behind a summary.
func findObjects(text []byte) (list []object) {
	for bad := 0; len(text) > 0 && bad < badObjects; {
		if text[0] == '{' {
			var j object
			d := json.NewDecoder(bytes.NewReader(text))
			if d.Decode(&j.raw) == nil && json.Unmarshal(j.raw, &j.fields) == nil {
				list = append(list, j)
				text = text[d.InputOffset():]
				continue
			}
			bad++
		}
		i := bytes.IndexByte(text, '\n')
		if i < 0 {
			break
		}
		text = text[i+1:]
	}
	return list
}
