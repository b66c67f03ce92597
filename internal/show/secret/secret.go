// Package secret takes credentials out of command lines, since journals and reports
// are passed around. It goes by names: of headers all but harmless ones, of variables,
// flags, query parameters and JSON keys those that speak of a credential; by place: a
// password in a URL, in u:p@tcp(h)/db or after -u; and by shape: a private key, a token
// with the prefix of its issuer, the URL of a webhook. A text is split into words as a
// shell does, and each word is judged again as a text, so that a command within a
// command has no other rules than the outer one.
//
// What it cannot know is a secret under a plain name; of variables that are set for one
// program alone it keeps only values that are too plain for one.
package secret

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/sorting"
)

// Redacted is where a value was taken out.
const Redacted = "REDACTED"

// Header is "Name: value" without the value, unless the name is of a header that
// is known to be harmless.
func Header(header string) string { return new(Finder).Header(header) }

// Words are those of a command line without credentials.
func Words(words []string) []string { return new(Finder).Words(words) }

// Text is a word of a command line, which may be a command, a script, a URL or JSON,
// without credentials.
func Text(s string) string { return unveil(new(Finder).text(veil(s))) }

// Finder takes credentials out of texts, and remembers them.
type Finder struct {
	found []string
	depth int // of the text that is looked at, within others
}

func (f *Finder) cut(value string) string {
	if named().MatchString(value) {
		return value
	}
	if value != "" && value != Redacted {
		f.found = append(f.found, value)
	}
	return Redacted
}

// plainHeaders are those whose values are no credentials.
var plainHeaders = []string{"accept", "accept-encoding", "accept-language", "connection", "content-length", "content-type", "expect", "host", "transfer-encoding", "upgrade", "user-agent"}

// lone is a word that is at most a header's name.
var lone = pattern.Of(`^[A-Za-z-]*$`)

func (f *Finder) header(header string) string {
	end := strings.IndexAny(header, ": \t=")
	switch {
	case end < 0 && lone().MatchString(header):
		return header
	case end < 0:
		return f.cut(header)
	case header[end] == ':' && slices.Contains(plainHeaders, strings.ToLower(header[:end])):
		return header
	}
	value := strings.TrimLeft(header[end:], ": \t=")
	if value == "" {
		return header
	}
	if header[end] == ':' {
		return header[:end] + ": " + f.cut(value)
	}
	return strings.TrimSuffix(header, value) + f.cut(value)
}

// Flags by what their value is, without dashes.
var (
	headerFlags = []string{"header", "H", "proxy-header", "rpc-header"}
	userFlags   = []string{"user", "u", "U", "proxy-user", "userpwd"}
	// passwordFlags are one letter, of a program that means a password by it, or a user's
	// name with the password.
	passwordFlags = map[string]string{
		"mysql": "p", "mysqldump": "p", "mysqladmin": "p", "mariadb": "p", "mariadb-dump": "p",
		"mongo": "p", "mongosh": "p", "sshpass": "p", "redis-cli": "a", "ldapsearch": "w", "sqlcmd": "P", "hey": "a", "oha": "a", "ab": "A",
	}
)

func (f *Finder) words(words []string) []string {
	out := slices.Clone(words)
	flag, password := "", "" // the one before, and the program's for a password
	for i, word := range words {
		out[i] = f.word(word, flag, password)
		flag = ""
		if name := strings.TrimLeft(word, "-"); name != word && !strings.ContainsAny(name, "=:\"' \t\r\n") {
			flag = name
		}
		if letter := passwordFlags[path.Base(word)]; letter != "" {
			password = letter
		}
	}
	return out
}

// word is judged by the flag before it, then by the flag that it holds, then as a text.
func (f *Finder) word(word, flag, password string) string {
	switch {
	case flag == "":
	case slices.Contains(headerFlags, flag):
		return f.header(word)
	case strings.HasPrefix(word, "-"):
	case credential(flag), flag == password:
		return f.cut(word)
	case slices.Contains(userFlags, flag):
		return f.user(word)
	}
	if w, ok := f.joined(word, password); ok {
		return w
	}
	// Of a word all that follows is the value; of a text it ends at a space or a semicolon.
	name, value, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	if strings.HasPrefix(word, "-") && value != "" && flagName().MatchString(name) && credential(name) {
		return strings.TrimSuffix(word, value) + f.cut(value)
	}
	return f.text(word)
}

var flagName = pattern.Of(`^[A-Za-z][\w.-]*$`)

// joined is a flag that holds its value.
func (f *Finder) joined(word, password string) (shown string, ok bool) {
	name, value, set := strings.Cut(strings.TrimLeft(word, "-"), "=")
	dashes := word[:len(word)-len(strings.TrimLeft(word, "-"))]
	switch {
	case dashes == "":
	case set && slices.Contains(headerFlags, name):
		return dashes + name + "=" + f.header(value), true
	case set && slices.Contains(userFlags, name):
		return dashes + name + "=" + f.user(value), true
	case len(dashes) == 1 && strings.HasPrefix(word, "-H") && strings.Contains(word, ":"):
		return "-H" + f.header(word[2:]), true
	case len(dashes) == 1 && len(word) > 2 && word[1:2] == password:
		return word[:2] + f.cut(word[2:]), true
	case len(dashes) == 1 && strings.HasPrefix(word, "-u") && !strings.ContainsAny(word, "/= "):
		return "-u" + f.user(word[2:]), true
	}
	return "", false
}

var (
	digits = pattern.Of(`^\d*$`)
	// address is what may be before a port.
	address = pattern.Of(`^(|localhost|[\w-]*[.\[:].*)$`)
)

// user is NAME:PASSWORD without the password; IDs of user and group, URLs and addresses
// stay.
func (f *Finder) user(word string) string {
	name, password, ok := strings.Cut(word, ":")
	switch {
	case !ok, strings.HasPrefix(password, "//"), password == "",
		digits().MatchString(password) && (digits().MatchString(name) || address().MatchString(name)):
		return f.text(word)
	}
	return name + ":" + f.cut(password)
}

// Words are those of a command line.
func (f *Finder) Words(words []string) []string { return each(f.words(each(words, veil)), unveil) }

// Header is "Name: value".
func (f *Finder) Header(header string) string { return unveil(f.header(veil(header))) }

// Variable is NAME=VALUE.
func (f *Finder) Variable(word string) string { return unveil(f.variable(veil(word))) }

// placeholder is what procfit fills in: {port}.
var placeholder = pattern.Of(`\{[a-z_]+\}`)

// sought reports whether a message is searched for a value, or for a piece of one: a short
// one, a placeholder and a plain word are in many messages that have no credential.
func sought(value string, piece bool) bool {
	value = placeholder().ReplaceAllString(value, "")
	return len(value) >= 5 && (!piece || len(value) >= 8 || strings.ContainsAny(value, "0123456789"))
}

// hidden takes the credentials that were found out of messages. A message about what a user gave
// often has only a piece of one, or has it in another form, so that only the value itself shows a
// credential there.
func (f *Finder) hidden() *strings.Replacer {
	var values []string
	for _, v := range f.found {
		// Cookie: a=x; b=y, Bearer x and a password with a slash are values of several pieces.
		for i, word := range append([]string{v}, strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;=&\"'\\/", r) })...) {
			if sought(word, i > 0) {
				quoted := strconv.Quote(word)
				values = append(values, word, quoted[1:len(quoted)-1], url.QueryEscape(word), url.PathEscape(word))
			}
		}
	}
	// The longest first: a part of it alone would leave the rest.
	sorting.Stable(values, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	var pairs []string
	for _, v := range slices.Compact(values) {
		pairs = append(pairs, v, Redacted)
	}
	return strings.NewReplacer(pairs...)
}

// plainVariables are those of Go's runtime, whose values are no credentials.
var plainVariables = []string{"GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK", "GORACE"}

// plainValue is a number, a time or a size, or a switch, which is too little for a credential,
// or an address on this machine whose port procfit chooses.
var plainValue = pattern.Of(`^(|true|false|yes|no|on|off|[+-]?\d{1,6}(\.\d{1,6})?[A-Za-z%]{0,3}|((localhost|[\d.]{0,15}):)?\{port\})$`)

// Variables is NAME=VALUE words without what may be a credential. A variable that is set
// for one program alone is often one: its value stays only where it cannot be.
func Variables(words []string) []string { return each(words, new(Finder).Variable) }

func (f *Finder) variable(word string) string {
	name, value, ok := strings.Cut(word, "=")
	switch {
	case !ok:
		return f.cut(word)
	case slices.Contains(plainVariables, name), !credential(name) && plainValue().MatchString(value):
		return f.text(word)
	}
	return name + "=" + f.cut(value)
}

// find finds the credentials of procfit's own command line as it was typed, whose --env sets
// variables of a program. The values of variables that it names are some too.
func find(args, values []string) *strings.Replacer {
	f := Finder{found: slices.Clone(values)}
	f.Words(args)
	for i, word := range args {
		if word == "--" {
			break
		}
		if value, joined := strings.CutPrefix(word, "--env="); joined {
			f.Variable(value)
		} else if i > 0 && args[i-1] == "--env" {
			f.Variable(word)
		}
	}
	return f.hidden()
}

// within are credentials wherever they are in a name, alone those that are so as a word
// of it, and inQuery those that are so as the whole name of a URL's parameter.
var (
	within  = []string{"token", "secret", "passw", "passphrase", "passcode", "credential", "authorization", "cookie", "apikey", "privatekey", "accesskey", "signature", "connectionstring", "sessionid", "dbpass", "dbpwd", "userpass"}
	alone   = []string{"auth", "pass", "pwd", "pw", "dsn", "jwt", "bearer", "pat", "sig", "pin", "otp", "totp", "mfa", "sid", "psk", "cred", "creds", "hmac", "sas", "mnemonic"}
	inQuery = []string{"key", "code", "ticket", "session"}
	// plainKeys are what comes before "key" in the name of a key that is not secret, or of
	// the file that it is in.
	plainKeys = []string{"public", "primary", "foreign", "sort", "partition", "shard", "hash", "cache", "row", "group", "routing", "object", "map", "index", "lookup", "idempotency", "tls", "ssl", "cert", "by", "per", "each", "no", "the", "a"}
)

// credential reports whether a name speaks of one: API_KEY, clientSecret, --signing-key.
func credential(name string) bool {
	words := nameWords(name)
	joined := strings.Join(words, "")
	if n := len(words); n > 1 && words[n-1] == "key" && !slices.Contains(plainKeys, words[n-2]) {
		return true
	}
	return slices.ContainsFunc(within, func(w string) bool { return strings.Contains(joined, w) }) ||
		slices.ContainsFunc(words, func(w string) bool { return slices.Contains(alone, w) })
}

// headerLike names have values of several words: "Authorization: Bearer x".
func headerLike(name string) bool {
	lower := strings.ToLower(name)
	return strings.Contains(lower, "authorization") || strings.Contains(lower, "cookie")
}

// nameWords are api and key of API_KEY, apiKey and api-key.
func nameWords(name string) []string {
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

// reference is a variable of procfit's environment, which it reads when a trial needs it:
// {env:NAME}. Its name is no credential. While a text is judged, two letters that nobody
// uses stand for its braces, which would end a value of JSON.
var reference = pattern.Of(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)

var veiled = pattern.Of("\uE0F1([A-Za-z_][A-Za-z0-9_]*)\uE0F2")

// named is a value that is only references, after the word for how it is one.
var named = pattern.Of("^((Bearer|Basic|Token) )?(\uE0F1[A-Za-z_][A-Za-z0-9_]*\uE0F2)+$")

func veil(s string) string   { return reference().ReplaceAllString(s, "\uE0F1${1}\uE0F2") }
func unveil(s string) string { return veiled().ReplaceAllString(s, "{env:${1}}") }

func each(words []string, change func(string) string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		out[i] = change(w)
	}
	return out
}
