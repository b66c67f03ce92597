package page_test

import (
	"testing"
	"unicode"

	"github.com/procfit/procfit/internal/verdict/journal"
	"github.com/procfit/procfit/internal/verdict/page"
)

// A failure quotes what others wrote, and how to run it again.
func TestFailure(t *testing.T) {
	f := page.NewFailure("out", &journal.Contents{
		Header: journal.Header{Name: "x", Target: journal.Target{Command: []string{"./x", "<i>", "{port}"}}, Spec: specOf("sweep", "--out", "out", "--", "./x", "<i>")},
		Trials: []journal.Trial{{
			Setting: journal.Setting{Label: "2", Procs: new(2)}, InvalidCode: journal.InvalidExit, Log: "logs/1.log",
			InvalidReason: "the program exited with code 1; it said:\npanic: \x1b[31m<script>\n\ngoroutine 1",
		}},
	})
	has(t, f.Text(),
		"nothing was measured: the program exited with code 1 (GOMAXPROCS 2)", "panic: \\x1b[31m<script>\n\n    goroutine 1",
		"out/logs/1.log", "GOMAXPROCS=2 ./x '<i>' 8080", "procfit sweep -- ./x '<i>'")
}

// A trial that compares a variable is named by its value, and run again with all of its
// variables.
func TestFailureOfAVariable(t *testing.T) {
	f := page.NewFailure("out", &journal.Contents{
		Header: journal.Header{Name: "x", Target: journal.Target{Command: []string{"./x"}}},
		Trials: []journal.Trial{{
			Setting: journal.Setting{
				Label: "GOGC=50", Procs: new(2), Compares: "GOGC",
				Variables: []journal.Variable{{Name: "GOGC", Value: "50"}, {Name: "MODE", Value: "a;b"}, {Name: "GOMEMLIMIT", Value: journal.Unset}},
			},
			InvalidCode: journal.InvalidExit, InvalidReason: "the program exited with code 1",
		}},
	})
	if f.Setting != "GOGC=50" {
		t.Errorf("the setting is %q", f.Setting)
	}
	if want := "GOMAXPROCS=2 GOGC=50 MODE='a;b' ./x"; len(f.Try) == 0 || f.Try[0].Command != want {
		t.Errorf("to try: %+v, want %s", f.Try, want)
	}
}

// What a journal of others holds neither moves the cursor nor runs where the command is
// pasted.
func TestFailureOfOthers(t *testing.T) {
	const evil = "\x1b[2J\u202e"
	f := page.NewFailure("out", &journal.Contents{
		Header: journal.Header{Name: evil, Target: journal.Target{Command: []string{"./x", evil}}, Spec: specOf("sweep", evil)},
		Trials: []journal.Trial{{
			Setting: journal.Setting{Label: evil, GoVersion: "1.26; reboot"}, InvalidCode: journal.InvalidExit, Log: "logs/" + evil,
			InvalidReason: "the program exited; it " + evil + ":\n" + evil,
		}},
	})
	got := f.Text()
	for _, r := range got {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Fatalf("%q is in %q", r, got)
		}
	}
	has(t, got, "GOTOOLCHAIN='go1.26; reboot' ./x ")
}
