// Package prometheus asks a Prometheus, or whatever else speaks its HTTP API, for one
// number at a time.
//
// A query is to come to a single number: several series are an error, since to choose
// among them would be a guess. No series, and a number that is none (a quantile of
// nothing), are not value and no error.
//
// What it does not cover: ranges, and native histograms that no function was applied to.
package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/phrase"
)

type Client struct {
	endpoint *url.URL // of instant queries
	header   http.Header
	http     *http.Client
}

const (
	answerTime = 15 * time.Second
	mostAnswer = 1 << 20 // bytes; one number takes a hundred
)

// New makes a Client of the URL of a Prometheus, with a prefix or without, and of what to
// send along, each "Name: value". The URL may have a user and a password.
func New(raw string, headers []string) (*Client, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("expected a URL such as http://prometheus.monitoring:9090")
	}
	c := &Client{endpoint: u.JoinPath("api/v1/query"), header: http.Header{}, http: &http.Client{
		Timeout:       answerTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the headers are for this server alone
	}}
	for _, h := range headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("header %q: expected 'Name: value'", h)
		}
		c.header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return c, nil
}

// RefusedError is that a query was answered, and not with a number: to ask it again would
// bring the same.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// Ask is the value of a query at a time; nil: there is none. The error is a
// *RefusedError, or that there was no answer.
func (c *Client) Ask(ctx context.Context, query string, at time.Time) (*float64, error) {
	form := url.Values{"query": {query}, "time": {strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64)}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	r.Header = c.header.Clone()
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := c.http.Do(r)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok { // it names the URL, and with it a password's place
			err = failed.Err
		}
		return nil, fmt.Errorf("Prometheus at %s: %w", c.endpoint.Host, err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return nil, fmt.Errorf("Prometheus at %s: %w", c.endpoint.Host, err)
	}
	v, err := decode(b)
	switch _, refused := errors.AsType[*RefusedError](err); {
	case err == nil || refused:
		return v, err
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("Prometheus at %s: status %s", c.endpoint.Host, phrase.Clean(response.Status))
	}
	return nil, fmt.Errorf("Prometheus at %s: %w", c.endpoint.Host, err)
}

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
