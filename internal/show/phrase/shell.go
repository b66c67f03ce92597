package phrase

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shell writes words as a shell would read them back. Words with characters that
// do not print use $'…' of bash, zsh and POSIX.1-2024.
func Shell(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = ShellWord(w)
	}
	return strings.Join(out, " ")
}

// ShellWord is one of them.
func ShellWord(w string) string {
	if w == "" {
		return "''"
	}
	if !Printable(w) {
		return quoteEscaped(w)
	}
	if strings.IndexFunc(bare(w), func(r rune) bool { return !shellSafe(r) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// bare is w without the placeholders of a command line, such as {port}, which no
// shell expands.
func bare(w string) string {
	for _, p := range []string{"{port}", "{url}", "{duration}", "{connections}"} {
		w = strings.ReplaceAll(w, p, "")
	}
	return w
}

func shellSafe(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,+@%", r)
}

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
