package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/show/number"
)

// errNewer is in the chain of an error about a journal of a later schema.
var errNewer = errors.New("written by a newer procfit")

// ErrEmpty is in the chain of an error about a file that a run left which was
// killed, or whose machine died, before its header was whole. It holds no trial.
var ErrEmpty = errors.New("it has no complete header and so no trial; run the same command with this directory as --out to start it again")

// mostLine bounds a line of a journal, in bytes; the longest, a header's, have some
// hundred KiB.
const mostLine = 16 << 20

// mostTrials bounds the trials of one journal, and its blocks: it would take weeks to
// measure as many, and memory that this machine may not have to read them.
const mostTrials = 200_000

// mostSettings bounds the settings of one journal: nobody measures as many, and what
// compares them with each other would not come to an end.
const mostSettings = 4096

// mostObjects bounds the JSON objects in all lines of one journal: a trial has some fifteen. One that is
// empty takes two bytes of a file and, as a phase, some hundreds of memory.
const mostObjects = 10 * mostTrials

// Contents is a journal as read.
type Contents struct {
	Header Header
	Trials []Trial
	Slices []Trial // of one start, before the trials
	Blocks []Block // of a race, as they were started, and those that a grid was given more
	// Profiled are the settings that were profiled after the trials; of one that is there twice,
	// the last is the one to read.
	Profiled []Profiled
	End      *End // of a canary or a live experiment; nil: its procfit was killed, or is still at work
	// Torn is the number of bytes of an unfinished last line, which is skipped;
	// 0 where the journal ends as it should.
	Torn int64
	// unended says that the last line is whole but for its newline.
	unended bool
	// size is the number of bytes up to the end of the last whole line.
	size     int64
	objects  int // in all lines
	settings map[SettingKey]bool
	places   map[place]int // of the trials
}

type place struct {
	setting      SettingKey
	role         Role
	block, order int
}

// Read reads a journal. name is for errors, which say name:line. A last line
// without a newline that is not a whole record is incomplete: it is skipped and counted
// in Torn. Any other line that cannot be read is an error, since a journal with
// a hole in it proves nothing; lines of an unknown kind are passed over, as a
// later procfit of the same schema may add kinds.
func Read(r io.Reader, name string) (*Contents, error) {
	c, err := read(r, name)
	if err != nil {
		return nil, err
	}
	return c.trimmed(), nil
}

func newContents() *Contents {
	return &Contents{settings: map[SettingKey]bool{}, places: map[place]int{}}
}

// read is Read with what appending needs.
func read(r io.Reader, name string) (*Contents, error) {
	c, lines, n := newContents(), bufio.NewScanner(r), 0
	lines.Buffer(nil, mostLine)
	lines.Split(wholeLine)
	for lines.Scan() {
		n++
		raw := lines.Bytes()
		last := raw[len(raw)-1] != '\n'
		if err := c.add(raw); err != nil {
			switch {
			case !last || lines.Err() != nil || errors.Is(err, errNewer):
			case n > 1:
				c.Torn = int64(len(raw))
				return c, nil
			case tornHeader(raw):
				return nil, fmt.Errorf("%s: %w", name, ErrEmpty)
			}
			return nil, fmt.Errorf("%s:%d: %w", name, n, cmp.Or(lines.Err(), err))
		}
		c.size, c.unended = c.size+int64(len(raw)), last
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: a line is longer than %s, so this is not a procfit journal", name, n+1, number.Short(number.Bytes(mostLine)))
	case err != nil:
		return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
	case n == 0:
		return nil, fmt.Errorf("%s: %w", name, ErrEmpty)
	}
	return c, nil
}

// wholeLine splits text into lines with their ends.
func wholeLine(data []byte, atEOF bool) (advance int, token []byte, err error) {
	n := bytes.IndexByte(data, '\n') + 1
	if n == 0 && atEOF {
		n = len(data)
	}
	if n == 0 {
		return 0, nil, nil
	}
	return n, data[:n], nil
}

// trimmed are the contents without what only reading needs, and without the trials that
// were tried again.
func (c *Contents) trimmed() *Contents {
	kept := *c
	kept.settings, kept.places = nil, nil
	kept.Blocks, kept.Slices, kept.Profiled = slices.Clone(c.Blocks), slices.Clone(c.Slices), slices.Clone(c.Profiled)
	kept.Trials = slices.DeleteFunc(slices.Clone(c.Trials), func(t Trial) bool { return t.Kind == "" })
	return &kept
}

// tornHeader reports whether a line without an end is the beginning of a header.
func tornHeader(raw []byte) bool {
	begins := []byte(`{"schema":"procfit.journal/`)
	n := min(len(raw), len(begins))
	return bytes.Equal(raw[:n], begins[:n])
}

func (c *Contents) add(raw []byte) error {
	if c.objects += bytes.Count(raw, []byte("{")); c.objects > mostObjects {
		return fmt.Errorf("it has more than %d JSON objects, more than procfit ever writes", mostObjects)
	}
	first := c.Header.Schema == ""
	var k struct {
		Schema string `json:"schema"`
		Kind   string `json:"kind"`
	}
	if !first && bytes.HasPrefix(raw, []byte(`{"kind":"trial",`)) { // as procfit writes them: they are most, and are long
		k.Kind = KindTrial
	} else if err := json.Unmarshal(raw, &k); err != nil {
		return notJSON(raw, err)
	}
	if first {
		if err := checkSchema(k.Schema, k.Kind); err != nil {
			return err
		}
		return take(raw, c.addHeader)
	}
	switch k.Kind {
	case KindTrial:
		return take(raw, c.addTrial)
	case KindBlock:
		return take(raw, c.addBlock)
	case KindBudget:
		return take(raw, c.addBudget)
	case KindProfiled:
		return take(raw, c.addProfiled)
	case KindEnd:
		return take(raw, func(e End) error { c.End = &e; return nil })
	}
	return nil
}

func take[T any](raw []byte, add func(T) error) error {
	var line T
	if err := json.Unmarshal(raw, &line); err != nil {
		return notJSON(raw, err)
	}
	return add(line)
}

func (c *Contents) addHeader(h Header) error {
	if c.Header = h; h.Spec.Command == "" {
		return fmt.Errorf("its header does not have the command (spec.command), without which it can be neither reported nor resumed: it is damaged, or procfit did not write it; measure again, into another directory")
	}
	return cmp.Or(h.checkCanary(), h.checkLive(), c.know(h.Plan.Settings...))
}

// know adds the settings of a line to those of the journal.
func (c *Contents) know(settings ...Setting) error {
	for _, a := range settings {
		c.settings[a.Key()] = true
	}
	if len(c.settings) > mostSettings {
		return fmt.Errorf("it has more than %d settings, more than procfit ever plans", mostSettings)
	}
	return nil
}

func (c *Contents) addTrial(t Trial) error {
	if err := c.know(t.Setting); err != nil {
		return err
	}
	if len(c.Trials)+len(c.Slices) == mostTrials {
		return fmt.Errorf("it has more than %d trials, more than procfit ever measures", mostTrials)
	}
	if t.Role == RoleSlice {
		c.Slices = append(c.Slices, t)
		return nil
	}
	at := place{t.Setting.Key(), t.Role, t.Block, t.Order}
	if before, again := c.places[at]; again && c.Trials[before].NotStarted {
		c.Trials[before].Kind = "" // it was tried again, and trimmed drops it
	} else if again && t.Role != RolePilot {
		return fmt.Errorf("it has the trial of %s in block %d twice, as a journal that was joined from copies: keep one journal per run", t.Setting.Name(), t.Block)
	}
	c.places[at] = len(c.Trials)
	c.Trials = append(c.Trials, t)
	return nil
}

// addBudget changes the plan, and what was asked for as far as that is another budget: commands
// that continue, or measure again, are made of it.
func (c *Contents) addBudget(b Budget) error {
	h := &c.Header
	before := h.Plan.Budget()
	h.Plan = h.Plan.With(b)
	h.Spec = h.Spec.With(h.Plan.Budget().since(before)...)
	return nil
}

func (c *Contents) addBlock(b Block) error {
	if len(c.Blocks) == mostTrials {
		return fmt.Errorf("it has more than %d blocks, more than procfit ever measures", mostTrials)
	}
	c.Blocks = append(c.Blocks, b)
	return c.know(b.Settings...)
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
	prefix, newest, _ := strings.Cut(Schema, "/v")
	version, ok := strings.CutPrefix(schema, prefix+"/v")
	n, err := strconv.Atoi(version)
	most, _ := strconv.Atoi(newest)
	switch {
	case !ok || err != nil || kind != KindHeader:
		return fmt.Errorf("the first line is not a header of schema %q (schema %q, kind %q): this file is not a procfit journal", Schema, schema, kind)
	case n > most:
		return fmt.Errorf("schema %q, but this procfit reads only %q: %w; update procfit to read it", schema, Schema, errNewer)
	case n < most:
		return fmt.Errorf("schema %q is unknown; this procfit reads only %q: measure again, into another directory", schema, Schema)
	}
	return nil
}
