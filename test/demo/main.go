// Command demo records docs/demo.svg, the terminal at the top of the README, from a real run:
// procfit ps finds a service with too many Ps, procfit set corrects it, and ps shows that.
//
//	go run ./test/demo
//
// It needs tmux. A row of the screen is one line of text for as long as it does not change;
// CSS shows and hides it. Where nothing is animated, the last screen is shown.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	columns, rows = 80, 32
	prompt        = "$ "
	// of the font, and around the text, in pixels
	cell, line, left, top = 8.4, 19, 16, 44
)

// commands are what is typed, and how long its output is left to be read.
var commands = []struct {
	text string
	read time.Duration
}{
	{"procfit ps shop", 4 * time.Second},
	{"procfit set shop 2 --yes", 4 * time.Second},
	{"procfit ps shop", 5 * time.Second},
}

const service = `package main

import (
	"crypto/sha256"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.Sum256(make([]byte, 1<<20))
		w.Write(sum[:])
	})
	panic(http.ListenAndServe(os.Args[1], nil))
}
`

func main() {
	log.SetFlags(0)
	if err := record("docs/demo.svg"); err != nil {
		log.Fatal("demo: ", err)
	}
}

func record(to string) error {
	dir, err := os.MkdirTemp("", "procfit-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := build(dir); err != nil {
		return err
	}
	const address = "127.0.0.1:18080"
	shop := exec.Command(filepath.Join(dir, "shop"), address)
	shop.Env = append(os.Environ(), "GOMAXPROCS=16")
	if err := shop.Start(); err != nil {
		return err
	}
	defer stop(shop)
	if err := listening(address); err != nil {
		return err
	}
	traffic := exec.Command(filepath.Join(dir, "procfit"), "load", "-q", "--rate", "100", "--for", "2m", "http://"+address+"/")
	traffic.Dir = dir
	if err := traffic.Start(); err != nil {
		return err
	}
	defer stop(traffic)
	time.Sleep(2 * time.Second)
	s := &screen{socket: filepath.Join(dir, "tmux")}
	defer s.tmux("kill-server")
	frames, err := s.session(dir)
	if err != nil {
		return err
	}
	last := strings.Join(frames[len(frames)-2].lines, "\n")
	if !strings.Contains(escape.ReplaceAllString(last, ""), "GOMAXPROCS 16 → 2") {
		return fmt.Errorf("procfit set did not set it:\n%s", last)
	}
	return os.WriteFile(to, drawn(frames), 0o644)
}

// build makes procfit and the service, whose go.mod has a go line of its own.
func build(dir string) error {
	module := filepath.Join(dir, "module")
	if err := os.Mkdir(module, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"go.mod": "module shop\n\ngo 1.26\n", "main.go": service} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	ours := exec.Command("go", "build", "-o", filepath.Join(dir, "procfit"), "./cmd/procfit")
	theirs := exec.Command("go", "build", "-o", filepath.Join(dir, "shop"), ".")
	theirs.Dir, theirs.Env = module, append(os.Environ(), "GOWORK=off")
	for _, c := range []*exec.Cmd{ours, theirs} {
		c.Stderr = os.Stderr
		if err := c.Run(); err != nil {
			return err
		}
	}
	return nil
}

func listening(address string) error {
	var err error
	for range 50 {
		var c net.Conn
		if c, err = net.Dial("tcp", address); err == nil {
			return c.Close()
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

func stop(c *exec.Cmd) {
	c.Process.Kill()
	c.Wait()
}

// frame is what the screen showed from a time on.
type frame struct {
	at    time.Duration
	lines []string // with escape sequences
}

type screen struct {
	socket string
	frames []frame
	began  time.Time
}

func (s *screen) tmux(args ...string) (string, error) {
	out, err := exec.Command("tmux", append([]string{"-S", s.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("tmux %s: %w: %s", args[0], err, bytes.TrimSpace(out))
	}
	return string(out), err
}

// session types the commands and films the screen.
func (s *screen) session(dir string) ([]frame, error) {
	shell := fmt.Sprintf("env -u NO_COLOR PATH=%s:$PATH PS1='\\n%s' bash --norc --noprofile", dir, prompt)
	if _, err := s.tmux("new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows+1), shell); err != nil {
		return nil, err
	}
	if _, err := s.tmux("set", "status", "off"); err != nil {
		return nil, err
	}
	s.began = time.Now()
	if err := s.until(10 * time.Second); err != nil {
		return nil, err
	}
	s.began, s.frames = time.Now(), nil
	for _, c := range commands {
		for _, key := range c.text {
			if _, err := s.tmux("send-keys", "-l", string(key)); err != nil {
				return nil, err
			}
			time.Sleep(45 * time.Millisecond)
			if err := s.film(); err != nil {
				return nil, err
			}
		}
		time.Sleep(400 * time.Millisecond)
		if _, err := s.tmux("send-keys", "Enter"); err != nil {
			return nil, err
		}
		time.Sleep(200 * time.Millisecond)
		if err := s.until(30 * time.Second); err != nil {
			return nil, err
		}
		time.Sleep(c.read)
	}
	return append(s.frames, frame{at: time.Since(s.began)}), nil
}

// until films until there is a prompt again.
func (s *screen) until(most time.Duration) error {
	for limit := time.Now().Add(most); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		if err := s.film(); err != nil {
			return err
		}
		shown := slices.DeleteFunc(slices.Clone(s.frames[len(s.frames)-1].lines), func(l string) bool { return l == "" })
		if len(shown) > 0 && plain(shown[len(shown)-1]) == strings.TrimSpace(prompt) {
			return nil
		}
	}
	return fmt.Errorf("no prompt within %s", most)
}

// film keeps what the screen shows, if it is new.
func (s *screen) film() error {
	out, err := s.tmux("capture-pane", "-p", "-e")
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	if n := len(s.frames); n == 0 || !slices.Equal(s.frames[n-1].lines, lines) {
		s.frames = append(s.frames, frame{time.Since(s.began), lines})
	}
	return nil
}

var escape = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

func plain(s string) string { return strings.TrimSpace(escape.ReplaceAllString(s, "")) }

// stretch is a row's text from one time to another.
type stretch struct {
	row      int
	text     string
	from, to time.Duration
}

// stretches are the rows of all frames, each text once for as long as it stays. The last frame
// only has a time.
func stretches(frames []frame) (list []stretch) {
	for row := range rows {
		text := func(f frame) string {
			if row+1 < len(f.lines) { // the first one is empty, as above each prompt
				return f.lines[row+1]
			}
			return ""
		}
		for i := 0; i < len(frames)-1; {
			next := i + 1
			for next < len(frames)-1 && text(frames[next]) == text(frames[i]) {
				next++
			}
			if t := text(frames[i]); plain(t) != "" {
				list = append(list, stretch{row, t, frames[i].at, frames[next].at})
			}
			i = next
		}
	}
	slices.SortStableFunc(list, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	return list
}

const style = `
svg { --edge: #30363d; --back: #0d1117; --bar: #161b22; --text: #e6edf3; --dim: #8b949e; --red: #ff7b72; --green: #7ee787; --yellow: #e3b341; --cyan: #79c0ff; }
@media (prefers-color-scheme: light) { svg { --edge: #d0d7de; --back: #ffffff; --bar: #f0f2f4; --text: #1f2328; --dim: #656d76; --red: #cf222e; --green: #116329; --yellow: #7d4e00; --cyan: #0550ae; } }
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--text); white-space: pre; }
.b { font-weight: 700; } .d { fill: var(--dim); } .r { fill: var(--red); } .g { fill: var(--green); } .y { fill: var(--yellow); } .c { fill: var(--cyan); }
.l { visibility: hidden; animation-duration: %.2fs; animation-iteration-count: infinite; animation-timing-function: step-end; }
@media (prefers-reduced-motion: reduce) { .l { animation: none; } .end { visibility: visible; } }
`

func drawn(frames []frame) []byte {
	end := frames[len(frames)-1].at
	used := 0
	list := stretches(frames)
	for _, s := range list {
		used = max(used, s.row+1)
	}
	high := top + used*line + left/2
	wide := int(columns*cell) + 2*left
	var b, keys bytes.Buffer
	percent := func(d time.Duration) string {
		return strconv.FormatFloat(100*d.Seconds()/end.Seconds(), 'f', 2, 64) + "%"
	}
	for i, s := range list {
		class := "l"
		if s.to == end {
			class += " end"
			fmt.Fprintf(&keys, "@keyframes k%d { 0%% { visibility: hidden } %s { visibility: visible } }\n", i, percent(s.from))
		} else {
			fmt.Fprintf(&keys, "@keyframes k%d { 0%% { visibility: hidden } %s { visibility: visible } %s { visibility: hidden } }\n", i, percent(s.from), percent(s.to))
		}
		text := strings.TrimRight(escape.ReplaceAllString(s.text, ""), " ")
		fmt.Fprintf(&b, `<text class="%s" style="animation-name:k%d" x="%d" y="%d" textLength="%.1f" xml:space="preserve">%s</text>`+"\n",
			class, i, left, top+s.row*line+14, cell*float64(utf8.RuneCountInString(text)), spans(s.text))
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" role="img" aria-labelledby="t">
<title id="t">procfit ps finds a service with GOMAXPROCS=16 on 2 CPUs, procfit set corrects it while it runs, and procfit ps shows the new value</title>
<style>`, wide, high)
	fmt.Fprintf(&out, style, end.Seconds())
	out.Write(keys.Bytes())
	fmt.Fprintf(&out, `</style>
<rect width="%d" height="%d" rx="8" fill="var(--back)"/>
<path d="M0 8a8 8 0 0 1 8-8h%d a8 8 0 0 1 8 8v24h-%[1]dz" fill="var(--bar)"/>
<rect x=".5" y=".5" width="%[4]d" height="%[5]d" rx="8" fill="none" stroke="var(--edge)"/>
<circle cx="20" cy="16" r="6" fill="#ff5f57"/><circle cx="40" cy="16" r="6" fill="#febc2e"/><circle cx="60" cy="16" r="6" fill="#28c840"/>
`, wide, high, wide-16, wide-1, high-1)
	out.Write(b.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func spans(text string) string {
	var b strings.Builder
	weight, colour := "", "" // that are on
	flush := func(part string) {
		if part == "" {
			return
		}
		part = html.EscapeString(part)
		if class := strings.TrimSpace(weight + " " + colour); class != "" {
			part = fmt.Sprintf(`<tspan class="%s">%s</tspan>`, class, part)
		}
		b.WriteString(part)
	}
	at := 0
	for _, m := range escape.FindAllStringSubmatchIndex(text, -1) {
		flush(text[at:m[0]])
		at = m[1]
		for code := range strings.SplitSeq(text[m[2]:m[3]], ";") {
			switch code {
			case "", "0":
				weight, colour = "", ""
			case "1":
				weight = "b"
			case "22":
				weight = ""
			case "2", "31", "32", "33", "36", "39":
				colour = map[string]string{"2": "d", "31": "r", "32": "g", "33": "y", "36": "c"}[code] // 39: none
			}
		}
	}
	flush(strings.TrimRight(text[at:], " "))
	return b.String()
}
