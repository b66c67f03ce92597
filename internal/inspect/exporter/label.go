package exporter

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/procfit/procfit/internal/program/observe"
)

// The longest label values, in bytes. A path of Kubernetes has about 200.
const (
	longestName  = 64
	longestWord  = 32
	longestGroup = 512
)

// clean makes any bytes a label value: valid UTF-8, printable, of bounded length.
func clean(s string, longest int) string {
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
	if len(s) <= longest {
		return s
	}
	const more = "…"
	s = s[:longest-len(more)]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + more
}

// The values of the label reason.
const (
	reasonPermission = "permission"
	reasonDamaged    = "damaged"
	reasonTime       = "time"
	reasonOther      = "other"
)

func reasonOf(c observe.Cause) string {
	switch {
	case c.Permission():
		return reasonPermission
	case c == observe.Damaged:
		return reasonDamaged
	case c == observe.Late:
		return reasonTime
	}
	return reasonOther
}
