package secret

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// plainVariables are those of Go's runtime, whose values are no credentials.
var plainVariables = []string{"GOGC", "GOMEMLIMIT", "GODEBUG", "GOTRACEBACK", "GORACE"}

// plainValue is a number, a time or a size, or a switch: too little for a credential.
var plainValue = regexp.MustCompile(`^(|true|false|yes|no|on|off|[+-]?\d{1,6}(\.\d{1,6})?[A-Za-z%]{0,3})$`)

// Variables is NAME=VALUE words without what may be a credential. A variable that is set
// for one program alone is often one: its value stays only where it cannot be.
func Variables(words []string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		out[i] = unveil(new(cutter).variable(veil(w)))
	}
	return out
}

func (c *cutter) variable(word string) string {
	name, value, ok := strings.Cut(word, "=")
	switch {
	case !ok:
		return c.cut(word)
	case slices.Contains(plainVariables, name), !credential(name) && plainValue.MatchString(value):
		return c.text(word)
	}
	return name + "=" + c.cut(value)
}

// Own is Words of procfit's own command line, whose --env sets variables of the target.
func Own(args []string) []string { return each(new(cutter).own(each(args, veil)), unveil) }

func (c *cutter) own(args []string) []string {
	out := c.words(args)
	for i, word := range args {
		switch value, joined := strings.CutPrefix(word, "--env="); {
		case word == "--":
			return out
		case joined:
			out[i] = "--env=" + c.variable(value)
		case i > 0 && args[i-1] == "--env":
			out[i] = c.variable(word)
		}
	}
	return out
}

// within are credentials wherever they are in a name, alone those that are so as a word
// of it, and inQuery those that are so as the whole name of a URL's parameter.
var (
	within  = []string{"token", "secret", "passw", "passphrase", "passcode", "credential", "authorization", "cookie", "apikey", "privatekey", "accesskey", "signature", "connectionstring", "sessionid"}
	alone   = []string{"auth", "pass", "pwd", "pw", "dsn", "jwt", "bearer", "pat", "sig", "pin", "otp", "totp", "mfa", "sid", "psk", "cred", "creds", "hmac", "sas", "mnemonic"}
	inQuery = []string{"key", "code", "ticket", "session"}
	// plainKeys are what comes before "key" in the name of a key that is not secret, or of
	// the file that it is in.
	plainKeys = []string{"public", "primary", "foreign", "sort", "partition", "shard", "hash", "cache", "row", "group", "routing", "object", "map", "index", "lookup", "idempotency", "tls", "ssl", "cert", "by", "per", "each", "no", "the", "a"}
)

// credential reports whether a name speaks of one: API_KEY, clientSecret, -auth, DSN,
// --signing-key.
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

// nameWords is the words of a name, in lower case: api, key of API_KEY, apiKey and
// api-key.
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
var reference = regexp.MustCompile(`\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)

var veiled = regexp.MustCompile("\uE0F1([A-Za-z_][A-Za-z0-9_]*)\uE0F2")

// named is a value that is only references, after the word for how it is one.
var named = regexp.MustCompile("^((Bearer|Basic|Token) )?(\uE0F1[A-Za-z_][A-Za-z0-9_]*\uE0F2)+$")

func veil(s string) string   { return reference.ReplaceAllString(s, "\uE0F1${1}\uE0F2") }
func unveil(s string) string { return veiled.ReplaceAllString(s, "{env:${1}}") }

func each(words []string, change func(string) string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		out[i] = change(w)
	}
	return out
}
