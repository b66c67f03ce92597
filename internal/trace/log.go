package trace

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/show/terminal"
	"github.com/procfit/procfit/internal/show/text"
	"github.com/procfit/procfit/internal/trace/sched"
	"github.com/procfit/procfit/internal/trace/sched/page"
)

// Log is a scheduler trace that was read, and where it came from.
type Log struct {
	Source  Source
	Exit    *Exit // nil but for a command
	Summary *sched.Summary
	hint    string // what to do where there is no sample
}

// hintOf is what to do where a log holds no sample, by its first bytes.
func hintOf(from Source, first []byte, executable bool) string {
	switch {
	case bytes.HasPrefix(first, []byte("go 1.")) && bytes.Contains(first, []byte(" trace\x00")):
		return "it is a Go execution trace; try: procfit trace --exec " + phrase.If(from.Kind == FromStdin, "-", phrase.ShellWord(from.Path))
	case bytes.HasPrefix(first, []byte("\xff\xfe")), bytes.HasPrefix(first, []byte("\xfe\xff")):
		return from.through("it is in UTF-16, as PowerShell writes it", "iconv -f UTF-16 -t UTF-8")
	case bytes.HasPrefix(first, []byte("\x1f\x8b")):
		return from.through("it is packed", "gzip -dc")
	case bytes.HasPrefix(first, []byte("\x28\xb5\x2f\xfd")):
		return from.through("it is packed", "zstd -dc")
	case executable:
		path := from.Path
		if filepath.Base(path) == path { // which is looked up in PATH, as a command
			path = "./" + path
		}
		return "it is executable; to run it, try: procfit trace -- " + phrase.ShellWord(path)
	}
	return "run the program with GODEBUG=schedtrace=1000 and keep its standard error"
}

// The kinds of a Source.
const (
	FromCommand = "command"
	FromFile    = "file"
	FromStdin   = "stdin"
)

// Source is a part of procfit.trace/v1.
type Source struct {
	Kind           string   `json:"kind"`
	Command        []string `json:"command,omitempty"`
	Path           string   `json:"path,omitempty"`
	IntervalMillis int64    `json:"interval_ms,omitempty"`
	Detail         bool     `json:"detail,omitempty"`
}

// through is what to do with a log that another program has to make text of.
func (s Source) through(what, command string) string {
	if s.Kind == FromFile {
		command += " " + phrase.ShellWord(s.Path)
	}
	return what + "; try: " + command + " | procfit trace -"
}

func (s Source) name() string {
	switch s.Kind {
	case FromCommand:
		return strings.Join(s.Command, " ")
	case FromStdin:
		return "standard input"
	}
	return s.Path
}

// ReadLog reads a log up to its end, or that of ctx.
func ReadLog(ctx context.Context, r io.Reader, from Source) *Log {
	in := newInput(ctx, r)
	defer in.Close()
	log := bufio.NewReader(in)
	first, _ := log.Peek(16) // fewer of a log that ends before that
	return &Log{Source: from, hint: hintOf(from, first, from.Kind == FromFile && executable(r)), Summary: sched.Analyse(sched.NewScanner(log))}
}

func executable(r io.Reader) bool {
	info := stat(r)
	return info != nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Empty reports that nothing in it was of a trace, not even what cannot be read.
func (l *Log) Empty() bool { return l.Summary.Counts.Samples == 0 && l.Summary.Skipped.Count == 0 }

// Err is what went wrong, with what was read or with the command, though there may
// be something to show.
func (l *Log) Err() error {
	switch {
	case l.Exit == nil && l.Summary.ReadError != "":
		return errors.New(l.Summary.ReadError)
	case l.Exit != nil && l.Exit.Stopped == "" && (l.Exit.Code == nil || *l.Exit.Code != 0):
		return fmt.Errorf("%s %s", l.Source.Command[0], l.Exit)
	case l.Summary.Counts.Samples == 0:
		return fmt.Errorf("no line of a scheduler trace in %s: %s", l.what(), l.hint)
	}
	return nil
}

func (l *Log) what() string {
	if l.Source.Kind == FromCommand {
		return "what " + l.Source.Command[0] + " wrote to its standard error"
	}
	return l.Source.name()
}

// Text is how text is written.
type Text = text.Options

func (l *Log) WriteText(w io.Writer, o Text) error {
	return text.Render(w, page.Brief(l.Source.name(), l.Summary, sched.Readings(l.Summary)), o)
}

type logJSON struct {
	Schema   string          `json:"schema"`
	Source   Source          `json:"source"`
	Exit     *Exit           `json:"exit"`
	Readings []sched.Reading `json:"readings"`
	Summary  *sched.Summary  `json:"summary"`
}

func (l *Log) WriteJSON(w io.Writer) error {
	return writeJSON(w, logJSON{"procfit.trace/v1", l.Source, l.Exit, sched.Readings(l.Summary), l.Summary})
}

func writeJSON(to io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(to, "%s\n", b)
	return err
}

type fieldsJSON struct {
	Schema string        `json:"schema"`
	Fields []sched.Field `json:"fields"`
}

func WriteFieldsJSON(w io.Writer) error {
	return writeJSON(w, fieldsJSON{"procfit.tracefields/v1", sched.Fields()})
}

func WriteFields(to io.Writer, o Text) error {
	w := terminal.NewWriter(o.Width, o.Color)
	for i, kind := range []struct{ where, title string }{
		{"SCHED", "The SCHED line, one a sample"},
		{"P", "A P line, one for each P, with scheddetail=1"},
		{"M", "An M line, one for each thread, with scheddetail=1"},
		{"G", "A G line, one for each goroutine, with scheddetail=1"},
	} {
		if i > 0 {
			w.Gap()
		}
		w.Line(w.Style(terminal.Bold, kind.title))
		for _, f := range sched.Fields() {
			if f.Where == kind.where {
				w.Line("  " + w.Style(terminal.Cyan, f.Name) + w.Style(terminal.Dim, "  "+f.Unit+versions(f)))
				w.Paragraph("      ", "      ", f.Meaning)
			}
		}
	}
	w.Gap()
	w.Paragraph("", "", "Based on the Go runtime's source, 1.2 to 1.27.")
	_, err := to.Write(w.Bytes())
	return err
}

// versions is empty for a field that has always been there.
func versions(f sched.Field) string {
	text := ""
	switch {
	case f.Until != "" && f.Since == f.Until:
		text = ", Go " + f.Since + " only"
	case f.Until != "" && f.Since != "1.2":
		text = ", Go " + f.Since + " to " + f.Until
	case f.Until != "":
		text = ", until Go " + f.Until
	case f.Since != "1.2":
		text = ", since Go " + f.Since
	}
	if f.Detail && f.Where == "SCHED" {
		text += ", with scheddetail=1"
	}
	return text
}
