package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/load"
)

// object reads a request of the JSON format.
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
		return fmt.Errorf("not a request in JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	switch {
	case d.More():
		return errors.New("more than one object: write each in a line of its own")
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
