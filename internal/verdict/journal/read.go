package journal

import (
	"bufio"
	"bytes"
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

// lineReader are those of a journal, which anybody may have written: one without an end
// takes no more memory than the longest.
type lineReader struct{ r *bufio.Reader }

// newLines reads lines.
func newLines(r io.Reader) lineReader { return lineReader{bufio.NewReader(r)} }

// next is the next line with its end. At the end of the file the error is io.EOF, with
// what there is of a last line.
func (l lineReader) next() (line []byte, err error) {
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > mostLine {
			return nil, fmt.Errorf("a line is longer than %s, so this is not a procfit journal", number.Short(number.Bytes(mostLine)))
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// mostTrials bounds the trials of one journal, and its blocks: it would take weeks to
// measure as many, and memory that this machine may not have to read them.
const mostTrials = 200_000

// mostSettings bounds the settings of one journal: nobody measures as many, and what
// compares them with each other would not come to an end.
const mostSettings = 4096

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
	settings map[SettingKey]bool
	// again are the trials without a program, by their place: one that was tried
	// later represents it.
	again map[place]int
}

// place is where in the plan a trial belongs.
type place struct {
	setting      SettingKey
	role         Role
	block, order int
}

func placeOf(t *Trial) place { return place{t.Setting.Key(), t.Role, t.Block, t.Order} }

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
	return &Contents{settings: map[SettingKey]bool{}, again: map[place]int{}}
}

// read is Read with what appending needs.
func read(r io.Reader, name string) (*Contents, error) {
	lines := newLines(r)
	c := newContents()
	for line := 1; ; line++ {
		raw, err := lines.next()
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
			switch {
			case last && line == 1 && tornHeader(raw) && !errors.Is(perr, errNewer):
				return nil, fmt.Errorf("%s: %w", name, ErrEmpty)
			case last && line > 1 && !errors.Is(perr, errNewer):
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

// trimmed are the contents without what only reading needs, and without the trials that
// were tried again.
func (c *Contents) trimmed() *Contents {
	kept := *c
	kept.settings, kept.again = nil, nil
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

func (c *Contents) add(raw []byte, line int) error {
	var k struct {
		Schema string `json:"schema"`
		Kind   string `json:"kind"`
	}
	if line > 1 && bytes.HasPrefix(raw, []byte(`{"kind":"trial",`)) { // as procfit writes them: they are most, and are long
		k.Kind = KindTrial
	} else if err := json.Unmarshal(raw, &k); err != nil {
		return notJSON(raw, err)
	}
	if line == 1 {
		if err := checkSchema(k.Schema, k.Kind); err != nil {
			return err
		}
		return c.addHeader(raw)
	}
	switch k.Kind {
	case KindTrial:
	case KindBlock:
		return c.addBlock(raw)
	case KindBudget:
		return c.addBudget(raw)
	case KindProfiled:
		return c.addProfiled(raw)
	case KindEnd:
		return unmarshal(raw, &c.End)
	default:
		return nil
	}
	var t Trial
	if err := unmarshal(raw, &t); err != nil {
		return err
	}
	return c.addTrial(t)
}

func (c *Contents) addHeader(raw []byte) error {
	if err := unmarshal(raw, &c.Header); err != nil {
		return err
	}
	if c.Header.Spec.Command == "" {
		return fmt.Errorf("its header does not have the command (spec.command), without which it can be neither reported nor resumed: it is damaged, or procfit did not write it; measure again, into another directory")
	}
	for _, a := range c.Header.Plan.Settings {
		c.settings[a.Key()] = true
	}
	if err := errors.Join(c.Header.checkCanary(), c.Header.checkLive()); err != nil {
		return err
	}
	return c.checkSettings()
}

func (c *Contents) checkSettings() error {
	if len(c.settings) > mostSettings {
		return fmt.Errorf("it has more than %d settings, more than procfit ever plans", mostSettings)
	}
	return nil
}

func (c *Contents) addTrial(t Trial) error {
	c.settings[t.Setting.Key()] = true
	if err := c.checkSettings(); err != nil {
		return err
	}
	if len(c.Trials)+len(c.Slices) == mostTrials {
		return fmt.Errorf("it has more than %d trials, more than procfit ever measures", mostTrials)
	}
	if t.Role == RoleSlice {
		c.Slices = append(c.Slices, t)
		return nil
	}
	at := placeOf(&t)
	if before, ok := c.again[at]; ok {
		c.Trials[before].Kind = "" // trimmed drops it
		delete(c.again, at)
	}
	if t.NotStarted {
		c.again[at] = len(c.Trials)
	}
	c.Trials = append(c.Trials, t)
	return nil
}

func (c *Contents) addBlock(raw []byte) error {
	var b Block
	if err := unmarshal(raw, &b); err != nil {
		return err
	}
	for _, a := range b.Settings {
		c.settings[a.Key()] = true
	}
	if len(c.Blocks) == mostTrials {
		return fmt.Errorf("it has more than %d blocks, more than procfit ever measures", mostTrials)
	}
	c.Blocks = append(c.Blocks, b)
	return c.checkSettings()
}

func (c *Contents) addBudget(raw []byte) error {
	var b Budget
	if err := unmarshal(raw, &b); err != nil {
		return err
	}
	c.Header.Plan = c.Header.Plan.With(b)
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
	prefix, newest, _ := strings.Cut(Schema, "/v")
	version, ok := strings.CutPrefix(schema, prefix+"/v")
	n, err := strconv.Atoi(version)
	if !ok || err != nil || kind != KindHeader {
		return fmt.Errorf("the first line is not a header of schema %q (schema %q, kind %q): this file is not a procfit journal", Schema, schema, kind)
	}
	most, _ := strconv.Atoi(newest)
	switch {
	case schema == Schema:
		return nil
	case n > most:
		return fmt.Errorf("schema %q, but this procfit reads only %q: %w; update procfit to read it", schema, Schema, errNewer)
	}
	return fmt.Errorf("schema %q is unknown; this procfit reads only %q: measure again, into another directory", schema, Schema)
}
