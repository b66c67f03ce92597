// Package requests reads a mix of requests: from a file in one of vegeta's formats
// (https://github.com/tsenart/vegeta, "-format"), or from URLs with weights.
//
// The plain format has a request line, headers below it, and after these the name of a
// file with the body; a blank line or the next request line ends a request, and a line that
// starts with # is a comment:
//
//	POST http://127.0.0.1:8080/things
//	Content-Type: application/json
//	@newthing.json
//
// The JSON format has an object a line, with method, url, and where they are wanted
// header (lists of values) and body (base64).
//
// One server is loaded, whose address the caller has: of the requests' URLs the path
// and the query are taken, and they all must name the same host, if any.
package requests

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/pattern"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/secret"
)

// Bounds against a file that is none of requests.
const (
	MostFile    = 384 << 20 // bytes: of all bodies in base64, and some more
	MostBody    = 16 << 20  // bytes of a body
	mostLine    = 32 << 20  // bytes of a line: a body in base64 is in one
	mostBodies  = 256 << 20 // of those of all requests
	mostHeaders = 1 << 20   // bytes of a request's headers
)

// Reader reads requests.
type Reader struct {
	// ReadFile is for the bodies that are files.
	ReadFile func(name string) ([]byte, error)

	list   []load.Request
	files  map[string][]byte // that were read, each once
	bodies int               // bytes of all
	host   string            // that the URLs name; empty: none yet
	at     int               // the line
}

// Read reads a file of either format. An error names the line.
func (r *Reader) Read(from io.Reader) ([]load.Request, error) {
	r.list, r.files, r.bodies, r.host, r.at = nil, map[string][]byte{}, 0, "", 0
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 64<<10), mostLine)
	open := false // a plain request that nothing has ended
	for lines.Scan() {
		r.at++
		line := bytes.TrimSpace(lines.Bytes())
		var err error
		switch {
		case len(line) == 0:
			open = false
		case line[0] == '#':
		case line[0] == '{' && !open:
			err = r.object(line)
		case open && !requestLine().Match(line):
			open, err = r.detail(string(line))
		default:
			err = r.request(string(line))
			open = true
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", r.at, err)
		}
	}
	if err := lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("longer than %s", memory(mostLine))
		}
		return nil, fmt.Errorf("line %d: %w", r.at+1, err)
	}
	if len(r.list) == 0 {
		return nil, errors.New("no request in it; write lines such as GET http://127.0.0.1:8080/")
	}
	return r.list, nil
}

// requestLine is a method and a URL or path, which no header can be: it has no blank in its name.
var requestLine = pattern.Of(`^[A-Z]+ +(/|[a-z0-9]+://)`)

// request reads "POST http://127.0.0.1:8080/things".
func (r *Reader) request(line string) error {
	method, address, ok := strings.Cut(line, " ")
	if !ok {
		return fmt.Errorf("%s: expected a method and a URL, for example GET http://127.0.0.1:8080/", clip(line))
	}
	path, err := r.path(strings.TrimSpace(address))
	if err != nil {
		return err
	}
	return r.add(load.Request{Method: method, Path: path})
}

func (r *Reader) add(one load.Request) error {
	if len(r.list) == load.MostRequests {
		return fmt.Errorf("more than %d requests", load.MostRequests)
	}
	r.list = append(r.list, one)
	return r.list[len(r.list)-1].Check()
}

// detail reads a header, or a body's file, which ends the request.
func (r *Reader) detail(line string) (open bool, err error) {
	one := &r.list[len(r.list)-1]
	if name, isFile := strings.CutPrefix(line, "@"); isFile {
		one.Body, err = r.file(name)
		return false, err
	}
	one.Headers = append(one.Headers, line)
	return true, checkHeaders(one)
}

// checkHeaders looks at a request's last header, and at the size of all.
func checkHeaders(one *load.Request) error {
	size := 0
	for _, h := range one.Headers {
		size += len(h)
	}
	if size > mostHeaders {
		return fmt.Errorf("the headers have more than %s", memory(mostHeaders))
	}
	return load.Request{Path: one.Path, Headers: one.Headers[len(one.Headers)-1:]}.Check()
}

func (r *Reader) file(name string) ([]byte, error) {
	body, known := r.files[name]
	if !known {
		var err error
		if body, err = r.ReadFile(name); err != nil {
			return nil, fmt.Errorf("the body: %w", err)
		}
		r.files[name] = body
	}
	return body, r.weigh(body) // each use: a load has a copy for each request
}

func memory(bytes int) string { return number.Short(number.Bytes(float64(bytes))) }

func (r *Reader) weigh(body []byte) error {
	r.bodies += len(body)
	switch {
	case len(body) > MostBody:
		return fmt.Errorf("the body has %s; the limit is %s", memory(len(body)), memory(MostBody))
	case r.bodies > mostBodies:
		return fmt.Errorf("the bodies of all requests together have more than %s; use fewer requests or smaller bodies", memory(mostBodies))
	}
	return nil
}

// path takes the path and the query of a URL, and holds its host against the others'.
func (r *Reader) path(raw string) (string, error) {
	path, host, err := split(raw)
	switch {
	case err != nil:
		return "", err
	case host == "" || host == r.host:
	case r.host == "":
		r.host = host
	default:
		return "", fmt.Errorf("%s: the earlier requests go to %s; all must go to one server", clip(raw), r.host)
	}
	return path, nil
}

// split parts a URL, or a path alone, into path and scheme with host.
func split(raw string) (path, host string, err error) {
	u, err := url.Parse(raw)
	if bad, ok := errors.AsType[*url.Error](err); ok {
		err = bad.Err
	}
	switch {
	case err != nil:
		return "", "", fmt.Errorf("%s is not a URL: %w", clip(raw), err)
	case u.User != nil:
		return "", "", fmt.Errorf("%s: give credentials as a header: 'Authorization: Basic …'", clip(raw))
	case u.Host == "" && (u.Scheme != "" || !strings.HasPrefix(raw, "/")), u.Host != "" && u.Scheme == "", u.Opaque != "":
		return "", "", fmt.Errorf("%s: expected a URL such as http://127.0.0.1:8080/, or a path", clip(raw))
	case u.Host != "":
		host = u.Scheme + "://" + u.Host
	}
	return u.RequestURI(), host, nil
}

// clip quotes what a line says, short and without what may be a credential.
func clip(s string) string { return fmt.Sprintf("%q", phrase.Clip(secret.Text(s), 80)) }

func (r *Reader) object(line []byte) error {
	var o struct {
		Method string              `json:"method"`
		URL    string              `json:"url"`
		Header map[string][]string `json:"header"`
		Body   []byte              `json:"body"`
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		return fmt.Errorf("invalid JSON request: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	switch {
	case d.More():
		return errors.New("more than one object: write each on its own line")
	case o.Method == "" || o.URL == "":
		return errors.New(`a request in JSON needs "method" and "url"`)
	}
	path, err := r.path(o.URL)
	if err != nil {
		return err
	}
	one := load.Request{Method: o.Method, Path: path, Body: o.Body}
	if err := r.weigh(o.Body); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(o.Header)) {
		for _, value := range o.Header[name] {
			one.Headers = append(one.Headers, name+": "+value)
			if err := checkHeaders(&one); err != nil {
				return err
			}
		}
	}
	return r.add(one)
}

// weighted is a URL with its weight in front: 3=http://….
var weighted = pattern.Of(`^([0-9]+(?:\.[0-9]+)?)=(.*)$`)

// Weighted tells a URL that has a weight.
func Weighted(text string) bool { return weighted().MatchString(text) }

// methodFirst is a URL with its method in front: POST http://….
var methodFirst = pattern.Of(`^([A-Za-z]+) +(\S.*)$`)

// Method parts a URL from the method in front of it, without one it is empty, and from its
// weight.
func Method(text string) (method, url string) {
	if m := weighted().FindStringSubmatch(text); m != nil {
		text = m[2]
	}
	if m := methodFirst().FindStringSubmatch(text); m != nil {
		return m[1], m[2]
	}
	return "", text
}

// FromURLs reads URLs of one server, each with its weight in front or none, which is
// 1, and with a method or none. base is the first without its weight. One URL without a weight is no mix: the
// list is then empty.
func FromURLs(texts []string) (base string, list []load.Request, err error) {
	host := ""
	for i, text := range texts {
		weight, raw := 1.0, text
		if m := weighted().FindStringSubmatch(text); m != nil {
			raw = m[2]
			if weight, err = strconv.ParseFloat(m[1], 64); err != nil || weight <= 0 || math.IsInf(weight, 0) {
				return "", nil, fmt.Errorf("%s: expected a weight above 0, for example 3=http://127.0.0.1:8080/", clip(text))
			}
		}
		if len(texts) == 1 {
			return raw, nil, nil
		}
		method, raw := Method(raw)
		path, of, err := split(raw)
		switch {
		case err != nil:
			return "", nil, err
		case of == "":
			return "", nil, fmt.Errorf("%s: expected a URL such as http://127.0.0.1:8080/", clip(raw))
		case i == 0:
			base, host = raw, of
		case of != host:
			return "", nil, fmt.Errorf("%s: the first URL is of %s; all must be of one server", clip(raw), host)
		}
		list = append(list, load.Request{Weight: weight, Method: method, Path: path})
	}
	return base, list, nil
}
