// Package phrase is the small change of sentences: counts with their nouns,
// lists, and text from outside made fit to print.
// It knows nothing of what the sentences are about.
package phrase

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

type integer interface{ ~int | ~int32 | ~int64 }

// Count is a number with its noun: "1 trial", "6 trials", "2 processes".
func Count[N integer](n N, noun string) string {
	many := noun + "s"
	for _, end := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(noun, end) {
			many = noun + "es"
		}
	}
	if stem, y := strings.CutSuffix(noun, "y"); y && strings.Trim(noun[max(0, len(stem)-1):len(stem)], "aeiou") != "" {
		many = stem + "ies"
	}
	return CountOf(n, noun, many)
}

// CountOf is Count for words whose plural is another.
func CountOf[N integer](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(int64(n), 10) + " " + many
}

// And joins items as a sentence lists them: "1, 2 and 4". More than six are
// counted: "1, 2, 3, 4, 5 and 7 more".
func And(items []string) string { return listed(atMost(6, "%d more", items), " and ") }

// Or joins items as alternatives: "1, 2 or 4".
func Or(items []string) string { return listed(items, " or ") }

func listed(items []string, word string) string {
	last := len(items) - 1
	if last < 1 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:last], ", ") + word + items[last]
}

// atMost has the number of those that are too many in place of them.
func atMost(most int, more string, items []string) []string {
	if len(items) <= most {
		return items
	}
	return append(items[:most-1:most-1], fmt.Sprintf(more, len(items)-most+1))
}

// Each has what a function returns for each item of a list, such as a text.
func Each[T, U any](list []T, of func(T) U) []U {
	out := make([]U, len(list))
	for i, one := range list {
		out[i] = of(one)
	}
	return out
}

// If is a text where something holds, and another one where it does not.
func If(holds bool, text, other string) string {
	if holds {
		return text
	}
	return other
}

// Join joins the texts that are not empty.
func Join(between string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" }), between)
}

// Semicolons joins clauses; more than eight are counted.
func Semicolons(items []string) string { return strings.Join(atMost(8, "and %d more", items), "; ") }

// Clean makes text from outside fit to be shown on one line: white space becomes
// a space, and what does not print (control characters, bidirectional overrides,
// broken UTF-8) becomes an escape, so that it can be seen and does nothing.
func Clean(s string) string {
	if printable(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		s = s[size:]
	}
	return b.String()
}

// CleanAll is Clean of each.
func CleanAll(list []string) []string { return Each(list, Clean) }

// CleanLines is Clean of a text that keeps its lines, and the tabs in them.
func CleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(CleanAll(strings.Split(line, "\t")), "\t")
	}
	return strings.Join(lines, "\n")
}

// printable reports whether a text is UTF-8 and every character of it prints.
func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// Clip shortens a text to n characters, the last of which is then "…".
func Clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	return string([]rune(s)[:n-1]) + "…"
}

// FirstLine is a text up to its first line break.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// Capital is a text with its first letter in upper case.
func Capital(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

// Above lists the values of GOMAXPROCS for a sweep that lie above n: 1.5, 2, 3 and 5
// times as many, as far as a sweep can measure them.
func Above(n int) (values []string) {
	const most = 4096
	for _, v := range []int{(3*n + 1) / 2, 2 * n, 3 * n, 5 * n} {
		if text := strconv.Itoa(v); v <= most && !slices.Contains(values, text) {
			values = append(values, text)
		}
	}
	return values
}

// Shell writes words as a shell would read them back. Words with characters that
// do not print use $'…' of bash, zsh and POSIX.1-2024.
func Shell(words []string) string { return strings.Join(Each(words, ShellWord), " ") }

// ShellWord is one of them.
func ShellWord(w string) string {
	if w == "" {
		return "''"
	}
	if !printable(w) {
		return quoteEscaped(w)
	}
	const safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%"
	if strings.Trim(placeholders.Replace(w), safe) == "" {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// placeholders takes out those of a command line, which no shell expands.
var placeholders = strings.NewReplacer("{port}", "", "{url}", "", "{duration}", "", "{connections}", "")

func quoteEscaped(w string) string {
	var b strings.Builder
	b.WriteString("$'")
	for len(w) > 0 {
		r, size := utf8.DecodeRuneInString(w)
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r) && !(r == utf8.RuneError && size == 1):
			b.WriteRune(r)
		default:
			// Octal of exactly three digits: a hexadecimal escape would swallow a digit
			// that follows it in some shells.
			for _, c := range []byte(w[:size]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		}
		w = w[size:]
	}
	b.WriteString("'")
	return b.String()
}

// Near are the known words that a word may be a slip of, the nearest first, before it those that
// begin with it where nothing is one slip away. One slip in
// three letters, two in five, still looks like the word; so does a part of it.
func Near(word string, known []string) []string {
	word = strings.ToLower(word)
	slips := func(k string) int { return distance(word, strings.ToLower(k)) }
	near := slices.DeleteFunc(slices.Clone(known), func(k string) bool {
		return slips(k) > (len(k)+1)/3 && !(len(word) >= 3 && strings.Contains(strings.ToLower(k), word))
	})
	begins := func(k string) bool { return len(word) >= 3 && strings.HasPrefix(strings.ToLower(k), word) }
	sort.SliceStable(near, func(i, j int) bool { // see package sorting
		if a, b := begins(near[i]), begins(near[j]); a != b && min(slips(near[i]), slips(near[j])) > 1 {
			return a
		}
		return slips(near[i]) < slips(near[j])
	})
	return near
}

// DidYouMean is the end of an error about a word: a question for the nearest of the known
// ones; empty where none is near.
func DidYouMean(word string, known []string) string {
	near := Near(word, known)
	if len(near) == 0 {
		return ""
	}
	return ". Did you mean " + near[0] + "?"
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
