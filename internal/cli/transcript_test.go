package cli

import (
	"bytes"
	"flag"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/test/must"
)

var updateTranscripts = flag.Bool("update-transcripts", false, "write what commands print into the pages that show it")

var (
	pageFile = regexp.MustCompile("(?ms)^`([\\w./-]+)`:\n\n```\\w*\n(.*?)^```")
	console  = regexp.MustCompile("(?ms)^```console\n(.*?)^```\n")
)

// transcripts are the pages whose commands follow one another.
var transcripts = []string{"../../docs/tutorial/first-check.md"}

// TestTranscripts follows pages from top to bottom in an empty folder: it writes the files
// that they show, and compares what their commands print with what they show below them.
func TestTranscripts(t *testing.T) {
	for _, file := range transcripts {
		t.Run(filepath.Base(file), func(t *testing.T) {
			name := must.Get(filepath.Abs(file))(t)
			text := must.Read(t, name)
			t.Chdir(t.TempDir())
			got := transcript(t, text)
			if *updateTranscripts {
				must.Write(t, name, got)
			} else if got != text {
				t.Errorf("%s shows other output than its commands print: run go test ./internal/cli -run TestTranscripts -update-transcripts, and read the diff\n%s", file, got)
			}
		})
	}
}

// transcript is a page with what its commands print now.
func transcript(t *testing.T, page string) string {
	t.Helper()
	var out strings.Builder
	ran, code := 0, 0
	for page != "" {
		file, commands := pageFile.FindStringSubmatchIndex(page), console.FindStringSubmatchIndex(page)
		switch {
		case file != nil && (commands == nil || file[0] < commands[0]):
			must.Write(t, page[file[2]:file[3]], page[file[4]:file[5]])
			out.WriteString(page[:file[1]])
			page = page[file[1]:]
		case commands != nil:
			out.WriteString(page[:commands[2]])
			for line := range strings.Lines(page[commands[2]:commands[3]]) {
				command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
				if !ok {
					continue // what an earlier run printed
				}
				var printed string
				printed, code = runShown(t, command, code)
				out.WriteString(line + printed)
				ran++
			}
			out.WriteString("```\n")
			page = page[commands[1]:]
		default:
			out.WriteString(page)
			page = ""
		}
	}
	if ran < 5 {
		t.Errorf("only %d commands found: is the pattern right?", ran)
	}
	return out.String()
}

// runShown runs a command of a page and returns what it prints, and its exit code.
func runShown(t *testing.T, command string, last int) (string, int) {
	t.Helper()
	if command == "echo $?" {
		return strconv.Itoa(last) + "\n", 0
	}
	words, err := load.Split(command)
	if err != nil || words[0] != "procfit" {
		t.Fatalf("%s: only procfit runs here (%v)", command, err)
	}
	var out bytes.Buffer
	code := Main(t.Context(), words[1:], strings.NewReader(""), &out, &out)
	if code != 0 && code != exitGate {
		t.Errorf("%s: exit code %d: %s", command, code, out.String())
	}
	return out.String(), code
}
