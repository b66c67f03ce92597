package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/host/wait"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/show/number"
)

const (
	// Patience is how long an agent may be out of reach before it counts as lost: an
	// API server that is restarted comes back within it.
	Patience = 90 * time.Second
	// retry is the pause after a try without an answer. The first is shorter, and each doubles,
	// since an agent that is just starting answers within some 100 ms.
	retry      = 500 * time.Millisecond
	firstRetry = retry / 16
	// Prompt is how late the end of a load may be reported for what the node did meanwhile to
	// tell of the load.
	Prompt = 5 * time.Second
	// mostAnswer is how many bytes an answer may have. The largest is a page of mostBody as
	// JSON, which may have six bytes for one.
	mostAnswer = 32 << 20
)

// LostError is that an agent could not be reached for too long.
type LostError struct{ Err error }

func (e *LostError) Error() string { return e.Err.Error() }
func (e *LostError) Unwrap() error { return e.Err }

// Lost says that the trial which needs the agent is lost too.
func (e *LostError) Lost() bool { return true }

// RefusedError is that an agent could not do what it was asked.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// Client asks an agent. Its Transport leads to the agent whatever the host is.
type Client struct {
	Transport http.RoundTripper
	Token     string // that the agent was started with
	Patience  time.Duration
	// Gone says why the agent will not come back, where that is known: its pod ended.
	Gone func(context.Context) error
	// Renew makes the next try go another way than one that got no answer.
	Renew func()
}

// Load offers a load and waits for what comes of it. ended is called once the measured time is over;
// late is how long ago that was.
func (c *Client) Load(ctx context.Context, o load.Options, ended func(late time.Duration)) (*load.Result, error) {
	id := "/loads/" + rand.Text()
	if err := c.ask(ctx, http.MethodPut, id, o, nil); err != nil {
		return nil, err
	}
	for until := untilEnded; ; {
		var p progress
		if err := c.ask(ctx, http.MethodGet, id+until, nil, &p); err != nil {
			return nil, err
		}
		if p.EndedAgo != nil && until == untilEnded {
			ended(*p.EndedAgo)
			until = ""
		}
		switch {
		case !p.Done:
		case p.Error != "":
			return nil, &RefusedError{p.Error}
		case p.Result == nil:
			return nil, errors.New("the agent sent the load but has no result of it")
		default:
			return p.Result.unpack()
		}
	}
}

// Fetch asks a URL once, from the agent's pod.
func (c *Client) Fetch(ctx context.Context, of string) (a Answer, err error) {
	return a, c.ask(ctx, http.MethodGet, "/answer?url="+url.QueryEscape(of), nil, &a)
}

// Look looks at the target that listens at the port.
func (c *Client) Look(ctx context.Context, port int) (l Look, err error) {
	return l, c.ask(ctx, http.MethodGet, "/look?port="+strconv.Itoa(port), nil, &l)
}

// End makes the agent end, and returns when it answers no more.
func (c *Client) End(ctx context.Context) error {
	for {
		if err := c.within(ctx, tryTime, request{http.MethodPut, "/end", nil, nil}); err != nil {
			return ctx.Err()
		}
		if err := wait.For(ctx, retry); err != nil {
			return err
		}
	}
}

// Start starts to count. The id is for Stop.
func (c *Client) Start(ctx context.Context, port int) (id string, err error) {
	id = "/spans/" + rand.Text()
	return id, c.soon(ctx, http.MethodPut, id+"?port="+strconv.Itoa(port), nil)
}

// Stop is what was counted since Start.
func (c *Client) Stop(ctx context.Context, id string) (counted Counted, err error) {
	return counted, c.soon(ctx, http.MethodGet, id, &counted)
}

const (
	tries   = 3
	tryTime = 5 * time.Second
)

// soon asks where an answer is of use at once or not at all.
func (c *Client) soon(ctx context.Context, method, path string, out any) (err error) {
	for range tries {
		if err = c.within(ctx, tryTime, request{method, path, nil, out}); final(ctx, err) {
			return err
		}
		c.Renew()
	}
	return err
}

// ask asks until there is an answer, or the agent counts as lost.
func (c *Client) ask(ctx context.Context, method, path string, in, out any) error {
	pause := firstRetry
	for until := time.Now().Add(c.Patience); ; pause = min(2*pause, retry) {
		err := c.within(ctx, 2*longPoll, request{method, path, in, out})
		if final(ctx, err) {
			return err
		}
		if why := c.Gone(ctx); why != nil {
			return &LostError{why}
		}
		c.Renew()
		if time.Now().After(until) {
			return &LostError{fmt.Errorf("the agent did not answer for %s: %w", number.Chosen(c.Patience), err)}
		}
		if err := wait.For(ctx, pause); err != nil {
			return err
		}
	}
}

// final reports whether a question that came to this is not asked again.
func final(ctx context.Context, err error) bool {
	_, refused := errors.AsType[*RefusedError](err)
	return err == nil || refused || ctx.Err() != nil
}

type request struct {
	method, path string
	in, out      any // nil: nothing
}

func (c *Client) within(ctx context.Context, time time.Duration, q request) error {
	ctx, cancel := context.WithTimeout(ctx, time)
	defer cancel()
	var body io.Reader
	if q.in != nil {
		b, err := json.Marshal(q.in)
		if err != nil {
			return &RefusedError{err.Error()}
		}
		body = bytes.NewReader(b)
	}
	r, err := http.NewRequestWithContext(ctx, q.method, "http://"+host+q.path, body)
	if err != nil {
		return &RefusedError{err.Error()}
	}
	r.Header.Set(tokenHeader, c.Token)
	response, err := c.Transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10)) // what there is of a reason
		return &RefusedError{strings.TrimSpace(string(b))}
	}
	b, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer+1)) // to its end, or the connection is not used again
	switch {
	case len(b) > mostAnswer:
		return &RefusedError{fmt.Sprintf("the answer is larger than %s, so it is not from procfit's agent; another program in the pod probably listens on port %d", number.Short(number.Bytes(mostAnswer)), Port)}
	case err != nil || q.out == nil:
		return err
	}
	return json.Unmarshal(b, q.out)
}
