package load

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/phrase"
)

// decimal reads a number as it stands; one too great for a float64 is infinite.
// Words for numbers (Inf, NaN) and hexadecimals are none.
func decimal(s string) (float64, bool) {
	if strings.ContainsAny(s, "xXpPiInN_") {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil || errors.Is(err, strconv.ErrRange)
}

// Number reads a finite number that is not negative.
func Number(s string) (float64, bool) {
	v, ok := decimal(s)
	return v, ok && v >= 0 && v <= 1e18
}

// Seconds reads a duration as Go and wrk write them: 1.16ms, 59.92us, 1m30s.
func Seconds(s string) (float64, bool) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, false
	}
	return d.Seconds(), true
}

// QuoteEnd quotes the end of an output for an error.
func QuoteEnd(output []byte) string {
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
