package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// ErrNewer is in the chain of an error about a journal of a later schema.
var ErrNewer = errors.New("written by a newer procfit")

// ErrEmpty is in the chain of an error about a file of no bytes: what a run leaves
// that was killed before it could write its header.
var ErrEmpty = errors.New("it is empty, and no journal; remove it, or choose another directory")

// Contents is a journal as read.
type Contents struct {
	Header Header
	Trials []Trial
	// Torn is the number of bytes of an unfinished last line, which is left out;
	// 0 where the journal ends as it should.
	Torn int64
	// unended says that the last line is whole but for its newline.
	unended bool
	// size is the number of bytes up to the end of the last whole line.
	size int64
}

// Read reads a journal. name is for errors, which say name:line. A last line
// without a newline that is no whole record is torn: it is left out and counted
// in Torn. Any other line that cannot be read is an error, since a journal with
// a hole in it proves nothing; lines of an unknown kind are passed over, as a
// later procfit of the same schema may add kinds.
func Read(r io.Reader, name string) (*Contents, error) {
	br := bufio.NewReader(r)
	c := &Contents{}
	for line := 1; ; line++ {
		raw, err := br.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		last := err == io.EOF
		if last && len(raw) == 0 {
			if line == 1 {
				return nil, fmt.Errorf("%s: %w", name, ErrEmpty)
			}
			return c, nil
		}
		if perr := c.add(raw, line); perr != nil {
			if last && line > 1 && !errors.Is(perr, ErrNewer) {
				c.Torn = int64(len(raw))
				return c, nil
			}
			return nil, fmt.Errorf("%s:%d: %w", name, line, perr)
		}
		c.size += int64(len(raw))
		if last {
			c.unended = true
			return c, nil
		}
	}
}

func (c *Contents) add(raw []byte, line int) error {
	var k struct {
		Schema string `json:"schema"`
		Kind   string `json:"kind"`
	}
	if err := json.Unmarshal(raw, &k); err != nil {
		return notJSON(raw, err)
	}
	if line == 1 {
		if err := checkSchema(k.Schema, k.Kind); err != nil {
			return err
		}
		return unmarshal(raw, &c.Header)
	}
	if k.Kind != KindTrial {
		return nil
	}
	var t Trial
	if err := unmarshal(raw, &t); err != nil {
		return err
	}
	// A trial that was tried again stands in the place of the one before.
	before := slices.IndexFunc(c.Trials, func(b Trial) bool {
		return b.NotStarted && b.Role == t.Role && b.Block == t.Block && b.Order == t.Order && reflect.DeepEqual(b.Arm, t.Arm)
	})
	if before >= 0 {
		c.Trials = slices.Delete(c.Trials, before, before+1)
	}
	c.Trials = append(c.Trials, t)
	return nil
}

func unmarshal(raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		return notJSON(raw, err)
	}
	return nil
}

func notJSON(raw []byte, err error) error {
	const most = 60
	text := string(bytes.TrimSpace(raw))
	if len(text) > most {
		text = text[:most] + "…"
	}
	return fmt.Errorf("not a line of a journal: %q: %w", text, err)
}

func checkSchema(schema, kind string) error {
	prefix, _, _ := strings.Cut(Schema, "/v")
	version, ok := strings.CutPrefix(schema, prefix+"/v")
	n, err := strconv.Atoi(version)
	if !ok || err != nil || kind != KindHeader {
		return fmt.Errorf("the first line is no header of schema %q (schema %q, kind %q): this file is not a procfit journal", Schema, schema, kind)
	}
	if schema != Schema && n > 1 {
		return fmt.Errorf("schema %q, and this procfit reads %q: %w; update procfit to read it", schema, Schema, ErrNewer)
	}
	if schema != Schema {
		return fmt.Errorf("schema %q is unknown; this procfit reads %q", schema, Schema)
	}
	return nil
}
