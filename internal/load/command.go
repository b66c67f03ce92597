package load

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
)

// Values fill the placeholders of a command.
type Values struct {
	URLs        []string
	Duration    time.Duration
	Connections int
	Rate        float64 // 0: closed loop
}

const placeholders = "{url}, {urls}, {host}, {port}, {duration}, {connections}, {rate}"

// A placeholder is a lower-case word in braces, so that a JSON body such as
// {"a":1} passes; {{word}} stands for {word} itself.
var placeholder = pattern.Of(`\{\{[a-z_]+\}\}|\{[a-z_]+\}`)

// Expand splits a command into words and fills its placeholders: {url} is the
// first URL, {urls} all of them, as words of their own where it is a word of its own,
// else joined by commas; {duration} is in whole seconds, rounded up, such as 3s;
// {host} and {port} are those of the first URL; {rate} is in requests a second. The words are split before they are filled, so
// no value can become two words.
func Expand(command string, v Values) ([]string, error) {
	words, err := Split(command)
	if err != nil {
		return nil, fmt.Errorf("load command %q: %w", command, err)
	}
	if len(words) == 0 {
		return nil, errors.New("load command: the command is empty")
	}
	if len(v.URLs) == 0 {
		return nil, errors.New("load command: no URL")
	}
	var argv []string
	for _, word := range words {
		if word == "{urls}" {
			argv = append(argv, v.URLs...)
			continue
		}
		var bad error
		argv = append(argv, placeholder().ReplaceAllStringFunc(word, func(name string) string {
			if strings.HasPrefix(name, "{{") {
				return name[1 : len(name)-1]
			}
			text, err := v.value(name)
			if err != nil && bad == nil {
				bad = fmt.Errorf("load command %q: %w", command, err)
			}
			return text
		}))
		if bad != nil {
			return nil, bad
		}
	}
	return argv, nil
}

func (v Values) part(name string) (string, error) {
	u, err := url.Parse(v.URLs[0])
	if err != nil {
		return "", cause(err)
	}
	if name == "{host}" {
		return u.Hostname(), nil
	}
	port := cmp.Or(u.Port(), map[string]string{SchemeHTTP: "80", SchemeHTTPS: "443"}[u.Scheme])
	if port == "" {
		return "", fmt.Errorf("{port} has no value: %s has no port", v.URLs[0])
	}
	return port, nil
}

func (v Values) value(name string) (string, error) {
	switch name {
	case "{url}":
		return v.URLs[0], nil
	case "{urls}":
		return strings.Join(v.URLs, ","), nil
	case "{host}", "{port}":
		return v.part(name)
	case "{duration}":
		return strconv.FormatFloat(max(1, math.Ceil(v.Duration.Seconds())), 'f', 0, 64) + "s", nil
	case "{connections}":
		return strconv.Itoa(v.Connections), nil
	case "{rate}":
		if v.Rate <= 0 {
			return "", errors.New("{rate} has no value without --rate; add --rate, or remove {rate} from the command")
		}
		return strconv.FormatFloat(v.Rate, 'f', -1, 64), nil
	}
	return "", fmt.Errorf("unknown placeholder %s; use one of %s, or write {%s} for the text itself", name, placeholders, name)
}

// Split cuts a command into words as a POSIX shell does where nothing expands:
// blanks separate, '…' is literal, in "…" a backslash escapes only " \ $ and `,
// outside quotes it escapes anything. What a shell would do beyond that (pipes,
// redirections, variables, several commands) is refused, for nothing does it
// here. Wildcards and ~ are plain text.
func Split(command string) ([]string, error) {
	parser := syntax.NewParser(syntax.Variant(syntax.LangPOSIX), syntax.KeepComments(true))
	file, err := parser.Parse(strings.NewReader(command), "")
	if bad, ok := errors.AsType[syntax.ParseError](err); ok {
		return nil, errors.New(bad.Text) // without the name of a file that there is none of
	}
	if err != nil {
		return nil, err
	}
	switch {
	case len(file.Last) > 0 || len(file.Stmts) > 0 && len(file.Stmts[0].Comments) > 0:
		return nil, shellOnly("#")
	case len(file.Stmts) == 0:
		return nil, nil
	case len(file.Stmts) > 1:
		return nil, shellOnly("several commands")
	}
	s := file.Stmts[0]
	call, simple := s.Cmd.(*syntax.CallExpr)
	switch {
	case s.Background:
		return nil, shellOnly("&")
	case s.Semicolon.IsValid():
		return nil, shellOnly(";")
	case len(s.Redirs) > 0:
		return nil, shellOnly(s.Redirs[0].Op.String())
	case s.Negated:
		return nil, shellOnly("!")
	case !simple:
		if b, ok := s.Cmd.(*syntax.BinaryCmd); ok {
			return nil, shellOnly(b.Op.String())
		}
		return nil, shellOnly("more than one command with its arguments")
	case len(call.Assigns) > 0:
		return nil, fmt.Errorf("%s= before the command is shell syntax; write 'env %[1]s=… command'", call.Assigns[0].Name.Value)
	}
	words := make([]string, 0, len(call.Args))
	for _, arg := range call.Args {
		word, err := literal(arg.Parts)
		if err != nil {
			return nil, err
		}
		words = append(words, word)
	}
	return words, nil
}

// Join writes words as Split reads them back. [phrase.Shell] writes some for shells that know $'…'.
func Join(words []string) string {
	return strings.Join(phrase.Each(words, func(w string) string {
		shown := phrase.ShellWord(w)
		if read, err := Split(shown); err == nil && slices.Equal(read, []string{w}) {
			return shown
		}
		return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}), " ")
}

// literal joins the parts of a word, none of which may expand.
func literal(parts []syntax.WordPart) (string, error) {
	var word strings.Builder
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if escapes(p.Value) {
				return "", errors.New("a backslash at the end escapes nothing")
			}
			if before, dollar := strings.CutSuffix(p.Value, "$"); dollar && !escapes(before) && i+1 < len(parts) {
				if _, quoted := parts[i+1].(*syntax.SglQuoted); quoted {
					return "", shellOnly("$'…'")
				}
			}
			word.WriteString(unescape(p.Value, ""))
		case *syntax.SglQuoted:
			word.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", shellOnly("$")
				}
				word.WriteString(unescape(lit.Value, "\"\\$`"))
			}
		default:
			return "", shellOnly("$")
		}
	}
	return word.String(), nil
}

// escapes reports whether the last backslash of a literal escapes what follows it.
func escapes(s string) bool { return (len(s)-len(strings.TrimRight(s, "\\")))%2 == 1 }

// unescape takes the backslashes out of a literal, which the parser leaves there:
// those before one of only, or before anything where only is empty.
func unescape(s, only string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (only == "" || strings.IndexByte(only, s[i+1]) >= 0) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func shellOnly(what string) error {
	return fmt.Errorf("%s needs a shell, but procfit runs the command without one: quote it if it is text, or use sh -c '…'", what)
}

// decimal reads a number as it is written; one too great for a float64 is infinite.
// Words for numbers (Inf, NaN) and hexadecimals are none.
func decimal(s string) (float64, bool) {
	if strings.ContainsAny(s, "xXpPiInN_") {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil || errors.Is(err, strconv.ErrRange)
}

// Number reads a finite number that is not negative.
func Number(s string) (float64, bool) {
	v, ok := decimal(s)
	return v, ok && v >= 0 && v <= 1e18
}

// Seconds reads a duration as Go and wrk write them: 1.16ms, 59.92us, 1m30s.
func Seconds(s string) (float64, bool) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, false
	}
	return d.Seconds(), true
}

func QuoteEnd(output []byte) string {
	const lines, length = 5, 400
	text := strings.TrimSpace(string(output))
	if text == "" {
		return "it printed nothing"
	}
	all := strings.Split(text, "\n")
	text = strings.Join(phrase.CleanAll(all[max(0, len(all)-lines):]), "\n")
	if len(text) > length {
		text = "…" + strings.ToValidUTF8(text[len(text)-length:], "")
	}
	return fmt.Sprintf("its last lines were:\n%s", text)
}
