package load

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Values fill the placeholders of a command.
type Values struct {
	URLs        []string
	Duration    time.Duration
	Connections int
	Rate        float64 // 0: closed loop
}

// placeholders are the ones that a command may hold, for help texts.
const placeholders = "{url}, {urls}, {host}, {port}, {duration}, {connections}, {rate}"

// A placeholder is a lower-case word in braces, so that a JSON body such as
// {"a":1} passes; {{word}} stands for {word} itself.
var placeholder = regexp.MustCompile(`\{\{[a-z_]+\}\}|\{[a-z_]+\}`)

// Expand splits a command into words and fills its placeholders: {url} is the
// first URL, {urls} all of them, as words of their own where it stands alone,
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
		argv = append(argv, placeholder.ReplaceAllStringFunc(word, func(name string) string {
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

// part is the host or the port of the first URL.
func (v Values) part(name string) (string, error) {
	u, err := url.Parse(v.URLs[0])
	if err != nil {
		return "", cause(err)
	}
	if name == "{host}" {
		return u.Hostname(), nil
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	case u.Scheme == "https":
		port = "443"
	default:
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
