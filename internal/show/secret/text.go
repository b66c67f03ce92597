package secret

import (
	"regexp"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/show/pattern"
)

const (
	// mostPasses bounds how often a text is looked at again: what is taken out can bring
	// together what was apart.
	mostPasses = 4
	// deepest is how many commands within commands are split into words: each looks at
	// what is within twice.
	deepest = 8
)

func (f *Finder) text(s string) string {
	if !strings.ContainsAny(s, " \t\r\n") {
		if shown, ok := f.joined(s, ""); ok {
			return shown
		}
	}
	f.depth++
	defer func() { f.depth-- }()
	for range mostPasses {
		before := s
		s = f.places(f.shapes(s))
		if f.depth <= deepest {
			s = f.quotes(s)
		}
		if s = f.elements(f.assignments(s)); f.depth <= deepest {
			s = f.script(s)
		}
		if s == before || f.depth > 1 { // the outermost looks again at what is within
			break
		}
	}
	return s
}

var (
	// shape is a credential that its own form gives away: a private key, or a token with
	// the prefix that its issuer gives it.
	shape = pattern.Of(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|$)` +
		`|\b(?:gh[pousr]_|github_pat_|glpat-|gl[a-z]{2,4}t-|xox[abeoprs]-|xapp-|[sr]k_(?:live|test)_|whsec_|shp(?:at|ca|pa|ss)_|do[opr]_v1_|dckr_pat_|hv[sbr]\.|glsa_|lin_api_|ATATT|AKIA|AGE-SECRET-KEY-|SG\.|ya29\.)[\w.+/=-]{6,}` +
		`|\b(?:ASIA[0-9A-Z]{16}|AIza[\w-]{30,}|(?:npm|hf)_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|sk-[\w-]{20,})` +
		`|\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)*`)
	// place is a credential by what it is in. The first group stays, the second goes.
	place = []func() *regexp.Regexp{
		// The URL of a webhook is all that its caller needs.
		pattern.Of(`(?i)(https?://(?:hooks\.slack(?:-gov)?\.com/|[\w.]*discord(?:app)?\.com/api/webhooks/|[\w.-]+\.webhook\.office\.com/|api\.telegram\.org/|hooks\.zapier\.com/))([^\s"'<>]+)`),
		// A URL's user and password, and a user alone, which is often a token.
		pattern.Of(`([A-Za-z][A-Za-z0-9+.-]*://[^\s/?#@:'"]*:)([^\s/?#'"]+|[^\s'"]*)@`),
		pattern.Of(`(?i)(https?://)([^\s/?#@:'"]+)@`),
		// u:p@tcp(h:3306)/db and u:p@h:3306.
		pattern.Of(`((?:^|[\s"'=])[^\s:/@"'=,;&?()]*:)([^\s"']+)@(?:\w*\()`),
		pattern.Of(`((?:^|[\s"'=])[^\s:/@"'=,;&?()]+:)([^\s:/@"']+)@(?:[\w.-]+[:/])`),
		pattern.Of(`(?i)(\bbearer\s+)([^\s"',;]+)`),
	}
	// digest is an image's, as in app:v1@sha256:….
	digest = pattern.Of(`@sha\d+:$`)
)

func (f *Finder) shapes(s string) string {
	return shape().ReplaceAllStringFunc(s, f.cut)
}

func (f *Finder) places(s string) string {
	for _, re := range place {
		var b strings.Builder
		at := 0
		for _, m := range re().FindAllStringSubmatchIndex(s, -1) {
			if digest().MatchString(s[m[0]:m[1]]) {
				continue
			}
			b.WriteString(s[at:m[4]])
			b.WriteString(f.cut(s[m[4]:m[5]]))
			at = m[5]
		}
		b.WriteString(s[at:])
		s = b.String()
	}
	return s
}

var (
	// assignment is a name, quoted or not, with what sets it off from its value; of a URL
	// that is in another, percent-encoded.
	assignment = pattern.Of(`([A-Za-z][\w.-]*)((?:\\*["']|%22)?\s*(?:[:=]|%3[AaDd])\s*)`)
	// element is one of XML, with its text.
	element = pattern.Of(`<([A-Za-z][\w:.-]*)(?:\s[^<>]*)?>([^<]+)`)
)

// elements takes out the text of elements of XML, by their names.
func (f *Finder) elements(s string) string {
	return element().ReplaceAllStringFunc(s, func(e string) string {
		if at := element().FindStringSubmatchIndex(e); credential(e[at[2]:at[3]]) {
			return e[:at[4]] + f.cut(e[at[4]:])
		}
		return e
	})
}

func (f *Finder) assignments(s string) string {
	var b strings.Builder
	last := byte(0) // before s
	for {
		at := assignment().FindStringSubmatchIndex(s)
		if at == nil {
			break
		}
		name, separator, end := s[at[2]:at[3]], s[at[4]:at[5]], at[1]
		if at[2] > 0 {
			last = s[at[2]-1]
		}
		if !credential(name) && !((last == '?' || last == '&') && slices.Contains(inQuery, strings.ToLower(name))) {
			end = at[3] // what sets it off may belong to the next name
		}
		b.WriteString(s[:end])
		last = s[end-1]
		s = s[end:]
		if end == at[1] {
			kept, rest := f.value(name, separator, s)
			b.WriteString(kept)
			s = rest
		}
	}
	b.WriteString(s)
	return b.String()
}

// value takes a credential's value off the beginning of s: a quoted text, a list or an
// object, a header's up to the end of what it is quoted in, else a word.
func (f *Finder) value(name, separator, s string) (kept, rest string) {
	if s == "" {
		return "", ""
	}
	if quote := quoteOf(s); quote != "" {
		i := closing(s[len(quote):], quote)
		if i < 0 {
			return quote + f.cut(s[len(quote):]), ""
		}
		return quote + f.cut(s[len(quote):][:i]), s[len(quote)+i:]
	}
	ends := " \t\r\n\"'&;,|<>)}]"
	switch {
	case s[0] == '[', s[0] == '{' && strings.ContainsAny(s, `:"`):
		if i := strings.IndexByte(s, s[0]+2); i > 0 { // ] follows [ so in ASCII, and } follows {
			return s[:1] + f.cut(s[1:i]), s[i:]
		}
	case strings.Contains(separator, ":") && headerLike(name):
		ends = "\r\n\"'"
	}
	i := strings.IndexAny(s, ends)
	switch {
	case i < 0:
		return f.cut(s), ""
	case i == 0:
		return "", s
	}
	return f.cut(s[:i]), s[i:]
}

// quoteOf is the quote that s begins with, with its backslashes; empty: none.
func quoteOf(s string) string {
	i := len(s) - len(strings.TrimLeft(s, `\`))
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		return s[:i+1]
	}
	return ""
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

// part is a word of a shell within a text.
type part struct {
	start, end int    // in the text
	value      string // without quotes
	first      bool   // of a command
}

// split finds the words of a text as a shell does. It takes every text, also one that no
// shell would: what is not closed goes to the end. (load.Split refuses what a shell would
// act on, for there the words are run.)
func split(s string) (parts []part) {
	first := true
	for i := 0; i < len(s); {
		switch {
		case strings.IndexByte(";&|()<>`\n", s[i]) >= 0:
			first = true
			i++
		case strings.IndexByte(" \t\r", s[i]) >= 0:
			i++
		default:
			p := part{start: i, first: first}
			p.value, p.end = unquote(s, i)
			parts, i, first = append(parts, p), p.end, false
		}
	}
	return parts
}

// unquote is the word that begins at i, and where it ends.
func unquote(s string, i int) (value string, end int) {
	var b strings.Builder
	quote := byte(0)
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quote != '\'' && i+1 < len(s):
			if i++; quote == '"' && strings.IndexByte("\"\\$`", s[i]) < 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(s[i])
		case c == quote && quote != 0:
			quote = 0
		case quote != 0:
			b.WriteByte(c)
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte(" \t\r\n;&|()<>`", c) >= 0:
			return b.String(), i
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), i
}

// script judges the words of each command in a text as those of a command line, and
// puts those that change in the places of the old ones.
func (f *Finder) script(s string) string {
	parts := split(s)
	if len(parts) == 1 && parts[0].value == s {
		return s // nothing but the text itself
	}
	for to := len(parts); to > 0; {
		from := to - 1
		for from > 0 && !parts[from].first {
			from--
		}
		var words []string
		for _, p := range parts[from:to] {
			words = append(words, p.value)
		}
		words = f.words(words)
		for i := to - 1; i >= from; i-- {
			if p := parts[i]; words[i-from] != p.value {
				s = s[:p.start] + quoted(words[i-from], s[p.start:p.end]) + s[p.end:]
			}
		}
		to = from
	}
	return s
}

// quotes judges what is quoted within quotes, before its own quotes are taken for the
// outer ones.
func (f *Finder) quotes(s string) string {
	parts := split(s)
	for i := len(parts) - 1; i >= 0; i-- {
		p := parts[i]
		if before := s[p.start:p.end]; strings.IndexByte(`'"`, before[0]) >= 0 && strings.ContainsAny(p.value, `'"`) {
			if w := f.text(p.value); w != p.value {
				s = s[:p.start] + quoted(w, before) + s[p.end:]
			}
		}
	}
	return s
}

// quoted is a word in the quotes of the one that it takes the place of, or in those that
// it needs.
func quoted(word, before string) string {
	i := strings.IndexAny(before, `'"`)
	switch {
	case i >= 0 && before[i] == '"':
		return `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`, "$", `\$`, "`", "\\`").Replace(word) + `"`
	case i >= 0, strings.ContainsAny(word, " \t\r\n;&|()<>`'\"\\$"):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}
