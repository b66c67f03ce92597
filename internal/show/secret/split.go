package secret

import "strings"

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
func (c *cutter) script(s string) string {
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
		words = c.words(words)
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
func (c *cutter) quotes(s string) string {
	parts := split(s)
	for i := len(parts) - 1; i >= 0; i-- {
		p := parts[i]
		if before := s[p.start:p.end]; strings.IndexByte(`'"`, before[0]) >= 0 && strings.ContainsAny(p.value, `'"`) {
			if w := c.text(p.value); w != p.value {
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
