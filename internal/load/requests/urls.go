package requests

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"github.com/procfit/procfit/internal/load"
)

// weighted is a URL with its weight in front: 3=http://….
var weighted = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)=(.*)$`)

// Weighted tells a URL that has a weight.
func Weighted(text string) bool { return weighted.MatchString(text) }

// Unweighted is the URL without its weight.
func Unweighted(text string) string {
	if m := weighted.FindStringSubmatch(text); m != nil {
		return m[2]
	}
	return text
}

// FromURLs reads URLs of one server, each with its weight in front or none, which is
// 1. base is the first without its weight. One URL without a weight is no mix: the
// list is then empty.
func FromURLs(texts []string) (base string, list []load.Request, err error) {
	host := ""
	for i, text := range texts {
		weight, raw := 1.0, text
		if m := weighted.FindStringSubmatch(text); m != nil {
			raw = m[2]
			if weight, err = strconv.ParseFloat(m[1], 64); err != nil || weight <= 0 || math.IsInf(weight, 0) {
				return "", nil, fmt.Errorf("%s: want a weight above 0, as in 3=http://127.0.0.1:8080/", clip(text))
			}
		}
		if len(texts) == 1 {
			return raw, nil, nil
		}
		path, of, err := split(raw)
		switch {
		case err != nil:
			return "", nil, err
		case of == "":
			return "", nil, fmt.Errorf("%s: want a URL such as http://127.0.0.1:8080/", clip(raw))
		case i == 0:
			base, host = raw, of
		case of != host:
			return "", nil, fmt.Errorf("%s: the first is of %s, and one server is loaded", clip(raw), host)
		}
		list = append(list, load.Request{Weight: weight, Path: path})
	}
	return base, list, nil
}
