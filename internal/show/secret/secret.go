// Package secret takes credentials out of command lines, since journals and reports
// are passed around. It goes by names: of headers all but harmless ones, of
// variables, flags, query parameters and JSON keys those that speak of a credential,
// and by the place of a password in a URL. What it cannot know is a secret under a
// plain name; of variables that are set for one program alone it keeps only values that
// are too plain for one.
package secret

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Redacted stands where a value was taken out.
const Redacted = "REDACTED"

// plainHeaders are those whose values are no credentials.
var plainHeaders = []string{"accept", "accept-encoding", "accept-language", "connection", "content-type", "host", "user-agent"}

// Header is "Name: value" without the value, unless the name is of a header that
// is known to be harmless.
func Header(header string) string {
	name, _, ok := strings.Cut(header, ":")
	if !ok || slices.Contains(plainHeaders, strings.ToLower(strings.TrimSpace(name))) {
		return header
	}
	return name + ": " + Redacted
}

// Headers is Header of each.
func Headers(headers []string) []string {
	out := slices.Clone(headers)
	for i, h := range out {
		out[i] = Header(h)
	}
	return out
}

// Words are those of a command line without credentials.
func Words(words []string) []string {
	out := slices.Clone(words)
	for i, word := range out {
		value, joined := strings.CutPrefix(word, "--header=")
		switch {
		case joined:
			out[i] = "--header=" + Header(value)
		case i > 0 && (words[i-1] == "--header" || words[i-1] == "-H"):
			out[i] = Header(word)
		case i > 0 && bareFlag(words[i-1]) && !strings.HasPrefix(word, "-"):
			out[i] = Redacted
		default:
			out[i] = Text(word)
		}
	}
	return out
}

// bareFlag tells a flag such as --token, whose value is the next word.
func bareFlag(word string) bool {
	name, dashed := strings.CutPrefix(word, "-")
	return dashed && !strings.ContainsAny(name, "=:\"' ") && credential(name)
}

var (
	// assignment is a name, quoted or not, with what sets it off from its value.
	assignment = regexp.MustCompile(`([A-Za-z][\w.-]*)(\\?["']?\s*[:=]\s*)`)
	// userinfo is a URL's user and password.
	userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://[^\s/?#@:'"]*:)([^\s/?#@'"]+|[^\s'"]*)@`)
)

// Text is a word of a command line, which may be a script, a URL or JSON, without
// credentials.
func Text(s string) string {
	s = userinfo.ReplaceAllString(s, "${1}"+Redacted+"@")
	var b strings.Builder
	for {
		at := assignment.FindStringSubmatchIndex(s)
		if at == nil {
			break
		}
		name, end := s[at[2]:at[3]], at[1]
		if !credential(name) {
			b.WriteString(s[:end])
			s = s[end:]
			continue
		}
		b.WriteString(s[:end])
		kept, rest := value(name, s[at[4]:end], s[end:])
		b.WriteString(kept)
		s = rest
	}
	b.WriteString(s)
	return b.String()
}

// value takes a credential's value off the beginning of s: a quoted text, a header's
// up to the end of what it is quoted in, else a word.
func value(name, separator, s string) (kept, rest string) {
	if s == "" {
		return "", ""
	}
	quote, escaped := "", strings.HasPrefix(s, `\`) && len(s) > 1 && (s[1] == '"' || s[1] == '\'')
	switch {
	case escaped:
		quote = s[:2]
	case s[0] == '"' || s[0] == '\'':
		quote = s[:1]
	}
	if quote != "" {
		if i := closing(s[len(quote):], quote); i >= 0 {
			return quote + Redacted, s[len(quote)+i:]
		}
		return quote + Redacted, ""
	}
	ends := " \t\r\n\"'&;,|<>)}]"
	if strings.Contains(separator, ":") && headerLike(name) {
		ends = "\r\n\"'"
	}
	i := strings.IndexAny(s, ends)
	switch {
	case i < 0:
		return Redacted, ""
	case i == 0:
		return "", s
	}
	return Redacted, s[i:]
}

// closing is where a quoted text ends; -1: nowhere.
func closing(s, quote string) int {
	for i := 0; i+len(quote) <= len(s); i++ {
		if strings.HasPrefix(s[i:], quote) {
			return i
		}
		if len(quote) == 1 && s[i] == '\\' {
			i++
		}
	}
	return -1
}

// headerLike names have values of several words: "Authorization: Bearer x".
func headerLike(name string) bool {
	lower := strings.ToLower(name)
	return strings.Contains(lower, "authorization") || strings.Contains(lower, "cookie")
}

// within are credentials wherever they stand in a name, alone those that are so as a
// word of it.
var (
	within = []string{"token", "secret", "passw", "passphrase", "credential", "authorization", "cookie", "apikey", "privatekey", "accesskey", "signature"}
	alone  = []string{"auth", "pass", "pwd", "dsn", "jwt", "bearer", "pat", "sig", "pin", "otp", "sid", "psk"}
)

// credential tells whether a name speaks of one: API_KEY, clientSecret, -auth, DSN.
func credential(name string) bool {
	words := split(name)
	joined := strings.Join(words, "")
	return slices.ContainsFunc(within, func(w string) bool { return strings.Contains(joined, w) }) ||
		slices.ContainsFunc(words, func(w string) bool { return slices.Contains(alone, w) })
}

// split is the words of a name, in lower case: api, key of API_KEY, apiKey and
// api-key.
func split(name string) []string {
	var words []string
	start := 0
	runes := []rune(name)
	cut := func(end int) {
		if end > start {
			words = append(words, strings.ToLower(string(runes[start:end])))
		}
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			cut(i)
			start = i + 1
		case i > start && unicode.IsUpper(r) && unicode.IsLower(runes[i-1]):
			cut(i)
			start = i
		}
	}
	cut(len(runes))
	return words
}
