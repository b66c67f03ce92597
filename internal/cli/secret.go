package cli

import (
	"slices"
	"strings"
)

// secretHeaders are those whose values are credentials. Journals and reports are
// passed around, so they hold only the names.
var secretHeaders = []string{"authorization", "proxy-authorization", "cookie", "x-api-key"}

const redacted = "REDACTED"

// redact takes the credentials out of words of a command line: of a header given
// as one word ("Name: value"), or with its flag ("--header=Name: value").
func redact(words []string) []string {
	out := slices.Clone(words)
	for i, word := range out {
		flag, header := "", word
		if rest, ok := strings.CutPrefix(word, "--header="); ok {
			flag, header = "--header=", rest
		}
		name, _, ok := strings.Cut(header, ":")
		if ok && slices.Contains(secretHeaders, strings.ToLower(strings.TrimSpace(name))) {
			out[i] = flag + name + ": " + redacted
		}
	}
	return out
}
