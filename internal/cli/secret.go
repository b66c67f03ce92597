package cli

import (
	"regexp"
	"slices"
	"strings"
)

const redacted = "REDACTED"

// plainHeaders are those whose values are no credentials. Journals and reports
// are passed around, so of any other header they hold the name alone.
var plainHeaders = []string{"accept", "accept-encoding", "accept-language", "connection", "content-type", "host", "user-agent"}

// credential is a name that speaks of one, with its value up to the end of the
// quoted text, or of the word: Authorization: Bearer x, -token=x, API_KEY=x.
var credential = regexp.MustCompile(`(?i)([\w-]*(?:authorization|token|api[_-]?key|secret|passw(?:or)?d|cookie)[\w-]*\s*[:=]\s*)[^"'\s](?:[^"']*[^"'\s])?`)

// redact takes the credentials out of words of a command line: the values of
// headers that are not known to be harmless, and what follows a telling name.
func redact(words []string) []string {
	out := slices.Clone(words)
	for i, word := range out {
		header, isHeader := strings.CutPrefix(word, "--header=")
		if isHeader {
			out[i] = "--header=" + redactHeader(header)
		} else if i > 0 && out[i-1] == "--header" {
			out[i] = redactHeader(word)
		} else {
			out[i] = credential.ReplaceAllString(word, "${1}"+redacted)
		}
	}
	return out
}

func redactHeaders(headers []string) []string {
	out := slices.Clone(headers)
	for i, h := range out {
		out[i] = redactHeader(h)
	}
	return out
}

func redactHeader(header string) string {
	name, _, ok := strings.Cut(header, ":")
	if !ok || slices.Contains(plainHeaders, strings.ToLower(strings.TrimSpace(name))) {
		return header
	}
	return name + ": " + redacted
}
