package prometheus

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/procfit/procfit/internal/show/phrase"
)

// answer is what the API sends
// (https://prometheus.io/docs/prometheus/latest/querying/api/#format-overview).
type answer struct {
	Status    string `json:"status"` // success, error
	ErrorType string `json:"errorType"`
	Error     string `json:"error"`
	Data      struct {
		ResultType string          `json:"resultType"` // vector, scalar, matrix, string
		Result     json.RawMessage `json:"result"`
	} `json:"data"`
}

// decode reads the one number of an answer; nil: there is none.
func decode(b []byte) (*float64, error) {
	var a answer
	if err := json.Unmarshal(b, &a); err != nil {
		return nil, fmt.Errorf("the answer %q is not from Prometheus: %w", phrase.Clip(phrase.Clean(string(b)), 60), err)
	}
	switch {
	case a.Status == "error":
		return nil, &RefusedError{fmt.Sprintf("%s: %s", phrase.Clean(a.ErrorType), phrase.Clean(a.Error))}
	case a.Status != "success":
		return nil, fmt.Errorf("the answer with status %q is not from Prometheus", phrase.Clip(a.Status, 20))
	}
	switch a.Data.ResultType {
	case "vector":
		return ofVector(a.Data.Result)
	case "scalar":
		return number("scalar", a.Data.Result)
	}
	return nil, &RefusedError{fmt.Sprintf("the query returns a %s; it must return one number", phrase.Clean(phrase.Clip(a.Data.ResultType, 20)))}
}

func ofVector(raw json.RawMessage) (*float64, error) {
	var v []struct {
		Value     json.RawMessage `json:"value"`
		Histogram json.RawMessage `json:"histogram"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, notOf("vector", raw)
	}
	switch {
	case len(v) == 0:
		return nil, nil
	case len(v) > 1:
		return nil, &RefusedError{fmt.Sprintf("the query returns %d series; it must return one, for example with sum() or max()", len(v))}
	case v[0].Histogram != nil:
		return nil, &RefusedError{"the query returns a native histogram; it must return one number, for example with histogram_quantile() or histogram_count()"}
	}
	return number("vector", v[0].Value)
}

func notOf(what string, raw []byte) error {
	return fmt.Errorf("expected a %s from Prometheus, got %q", what, phrase.Clip(phrase.Clean(string(raw)), 60))
}

// number reads a time and a value, which is in quotes: [1764000000.123, "0.5"]. It is nil for a
// value that is none.
func number(of string, raw json.RawMessage) (*float64, error) {
	var pair []json.RawMessage
	var text string
	if json.Unmarshal(raw, &pair) != nil || len(pair) != 2 || json.Unmarshal(pair[1], &text) != nil {
		return nil, notOf(of, raw)
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(x, 0) {
		return nil, notOf(of, raw)
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, nil
	}
	return &x, nil
}
