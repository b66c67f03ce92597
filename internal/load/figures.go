package load

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/phrase"
)

// Figures are what a load generator printed. Times are in seconds; nil is what
// it did not say.
type Figures struct {
	Requests   *float64 // answered, whatever the status
	Errors     *float64 // bad statuses and requests without an answer
	Throughput *float64 // answers a second
	P50        *float64
	P75        *float64
	P90        *float64
	P99        *float64
	Max        *float64
	Mean       *float64
}

// Generator is a load generator whose output can be read without metrics.
type Generator string

const (
	GeneratorWrk   Generator = "wrk" // wrk2, which prints the same way, too
	GeneratorHey   Generator = "hey"
	GeneratorOther Generator = "" // figures come from metrics alone
)

// Recognise tells the generator by a word of the command that names it, so that
// 'ssh box wrk …' and 'taskset -c 3 /usr/bin/hey …' count, else by its output.
func Recognise(argv []string, output []byte) Generator {
	for _, word := range argv {
		switch strings.TrimSuffix(path.Base(word), ".exe") {
		case "wrk", "wrk2":
			return GeneratorWrk
		case "hey":
			return GeneratorHey
		}
	}
	switch {
	case bytes.Contains(output, []byte("Thread Stats")) && bytes.Contains(output, []byte("Requests/sec:")):
		return GeneratorWrk
	case bytes.Contains(output, []byte("Summary:")) && bytes.Contains(output, []byte("Status code distribution:")):
		return GeneratorHey
	}
	return GeneratorOther
}

// Parse reads the output of a recognised generator; of another it finds nothing.
func (g Generator) Parse(output []byte) (*Figures, error) {
	switch g {
	case GeneratorWrk:
		return ParseWrk(output)
	case GeneratorHey:
		return ParseHey(output)
	}
	return &Figures{}, nil
}

// percentile is where the figure for a printed percentile belongs, or nil.
func (f *Figures) percentile(p float64) **float64 {
	switch p {
	case 50:
		return &f.P50
	case 75:
		return &f.P75
	case 90:
		return &f.P90
	case 99:
		return &f.P99
	}
	return nil
}

// number reads a finite, non-negative number.
func number(s string) (float64, bool) {
	v, ok := decimal(s)
	return v, ok && v >= 0 && v <= 1e18
}

// decimal reads a number as it stands; one too great for a float64 is infinite.
// Words for numbers (Inf, NaN) and hexadecimals are none.
func decimal(s string) (float64, bool) {
	if strings.ContainsAny(s, "xXpPiInN_") {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil || errors.Is(err, strconv.ErrRange)
}

// seconds reads a duration as Go and wrk write them: 1.16ms, 59.92us, 1m30s.
func seconds(s string) (float64, bool) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, false
	}
	return d.Seconds(), true
}

// tail quotes the end of an output for an error.
func tail(output []byte) string {
	const lines, length = 5, 400
	text := strings.TrimSpace(string(output))
	if text == "" {
		return "it printed nothing"
	}
	all := strings.Split(text, "\n")
	text = strings.Join(phrase.CleanAll(all[max(0, len(all)-lines):]), "\n")
	if len(text) > length {
		text = "…" + strings.ToValidUTF8(text[len(text)-length:], "")
	}
	return fmt.Sprintf("its last lines were:\n%s", text)
}
