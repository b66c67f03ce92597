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
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/show/phrase"
)

// Client is where to ask.
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
		var failed *url.Error
		if errors.As(err, &failed) { // it names the URL, and with it a password's place
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
	var refused *RefusedError
	switch {
	case err == nil || errors.As(err, &refused):
		return v, err
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("Prometheus at %s: status %s", c.endpoint.Host, phrase.Clean(response.Status))
	}
	return nil, fmt.Errorf("Prometheus at %s: %w", c.endpoint.Host, err)
}
