package exporter

import (
	"strings"
	"unicode"
	"unicode/utf8"
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

// reasons are the values of the label reason.
var reasons = []string{"permission", "damaged", "other"}

// reason is one of reasons for a Kind of observe.
func reason(kind string) string {
	switch {
	case strings.HasPrefix(kind, "permission denied"):
		return "permission"
	case strings.HasPrefix(kind, "the file is damaged"):
		return "damaged"
	}
	return "other"
}
