package secret

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Hidden are the credentials of a command line: what Own takes out of it. A message about
// what a user gave often has only a piece of it, or has it in another form, so that
// nothing but the value itself tells a credential there.
type Hidden struct{ values *strings.Replacer }

// sought tells whether a message is searched for a value, or for a piece of one: a short
// one, a placeholder and a plain word are in many messages that have no credential.
func sought(value string, piece bool) bool {
	return len(value) >= 5 && !strings.Contains(value, "{") && (!piece || len(value) >= 8 || strings.ContainsAny(value, "0123456789"))
}

// Find finds the credentials of procfit's own command line.
func Find(args []string) Hidden {
	var c cutter
	c.own(args)
	var values []string
	for _, v := range c.found {
		// Cookie: a=x; b=y, Bearer x and a password with a slash are values of several pieces.
		for i, word := range append([]string{v}, strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;=&\"'\\/", r) })...) {
			if sought(word, i > 0) {
				quoted := strconv.Quote(word)
				values = append(values, word, quoted[1:len(quoted)-1], url.QueryEscape(word), url.PathEscape(word))
			}
		}
	}
	// The longest first: a part of it alone would leave the rest.
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, v := range slices.Compact(values) {
		pairs = append(pairs, v, Redacted)
	}
	return Hidden{strings.NewReplacer(pairs...)}
}

// In is a message without the credentials.
func (h Hidden) In(message string) string {
	if h.values == nil {
		return message
	}
	return h.values.Replace(message)
}
