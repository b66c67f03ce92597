package local

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/supervisor"
)

// PortPlaceholder stands for a free port in the command and the URL.
const PortPlaceholder = "{port}"

// binaryPlaceholder stands for what --build made, where it is not the command's
// first word.
const binaryPlaceholder = "{binary}"

// Kind is how a target is measured.
type Kind = string

const (
	Server  Kind = "server"  // loaded at its URL
	Batch   Kind = "batch"   // runs and ends
	GoBench Kind = "gobench" // a batch program that prints Go benchmark lines
)

// Config is what to run and how to load it.
type Config struct {
	Command []string // argv; with Build only the arguments, unless a word holds {binary}
	Against []string // argv of the old command
	BuiltIn string   // id of the practice service that Command starts
	Build   string   // Go package to compile
	// Ready are programs that are compiled already, by the arm's Go version; they
	// run instead of Command, which then only names them.
	Ready   map[string]Ready
	URL     string   // empty: a batch program
	Environ []string // the target's environment; GOMAXPROCS in it is replaced
	Env     []string // NAME=value: what the target has besides, as part of what is measured
	LogDir  string   // the targets' output goes here, a file a trial and replica

	Replicas             int
	ServerCPUs, LoadCPUs []int // nil: any
	ReadyTimeout, Grace  time.Duration
	MaxErrors            float64 // share of requests

	Duration, Warmup time.Duration
	Connections      int
	Rate             float64 // that the user gave; 0: none
	Method           string
	Headers          []string
	Body             []byte
	RequestTimeout   time.Duration
	LoadCommand      string // an external generator instead of our engine
	Metrics          []load.Metric
	Benchmarks       bool          // the batch program prints Go benchmark lines
	Limit            time.Duration // of a batch program's run; 0: none
}

// Ready is a program to run as it is, or why it cannot be had: then the trials of
// its arms are invalid.
type Ready struct {
	Command []string
	Err     error
}

// Kind tells how the target is measured.
func (c Config) Kind() Kind {
	switch {
	case c.URL != "":
		return Server
	case c.Benchmarks || isGoBench(c.Command):
		return GoBench
	}
	return Batch
}

// Name is a short name of the target, for a directory.
func (c Config) Name() string {
	switch {
	case c.BuiltIn != "":
		return c.BuiltIn
	case isGoBench(c.Command):
		return "gobench"
	case c.Build != "":
		if name := filepath.Base(c.Build); name != "." && name != "/" {
			return clean(name)
		}
		return "build"
	}
	return clean(filepath.Base(c.Command[0]))
}

// clean keeps of a name what is harmless in a path.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}

// OpenLoop tells whether trials have an open loop: those of our own engine do.
func (c Config) OpenLoop() bool { return c.Kind() == Server && c.LoadCommand == "" }

// LoadOnThisMachine tells whether the load's CPU time is taken from the machine
// of the target. An external command is asked by its first word: ssh and kubectl
// drive from elsewhere.
func (c Config) LoadOnThisMachine() bool {
	if c.Kind() != Server {
		return false
	}
	word, _, _ := strings.Cut(strings.TrimSpace(c.LoadCommand), " ")
	return !slices.Contains([]string{"ssh", "kubectl"}, filepath.Base(word))
}

// Check says what is wrong or contradictory in the configuration.
func (c Config) Check() error {
	if c.Build == "" && c.Ready == nil {
		if err := supervisor.CheckCommand(c.Command[0]); err != nil {
			return err
		}
	}
	if c.Against != nil {
		if err := supervisor.CheckCommand(c.Against[0]); err != nil {
			return fmt.Errorf("--against: %w", err)
		}
	}
	hasPort := slices.ContainsFunc(append(slices.Clone(c.Command), c.Against...), func(w string) bool { return strings.Contains(w, PortPlaceholder) })
	if c.Kind() != Server {
		if hasPort {
			return errors.New("the command has {port}, but there is no --url to load: add --url http://127.0.0.1:{port}/")
		}
		return nil
	}
	u, err := url.Parse(strings.ReplaceAll(c.URL, PortPlaceholder, "1"))
	if err != nil || u.Host == "" {
		return fmt.Errorf("--url %q: want an address such as http://127.0.0.1:{port}/", c.URL)
	}
	if u.Scheme != "http" && c.LoadCommand == "" {
		return fmt.Errorf("--url %s: procfit's own load speaks plain HTTP/1.1; for %s give a generator with --load", c.URL, u.Scheme)
	}
	if strings.Contains(c.URL, PortPlaceholder) && !hasPort {
		return errors.New("the URL has {port}, but the command does not: the server would not know its port")
	}
	if c.Replicas > 1 && !hasPort {
		return fmt.Errorf("--replicas %d needs {port} in the command and the URL: each copy listens at a port of its own", c.Replicas)
	}
	if c.Replicas > 1 && c.LoadCommand != "" && !strings.Contains(c.LoadCommand, "{urls}") {
		return errors.New("--load with --replicas needs {urls}: a generator that takes several addresses; or leave --load out")
	}
	if c.LoadCommand != "" {
		argv, err := load.Expand(c.LoadCommand, load.Values{URLs: []string{c.URL}, Duration: c.Duration, Connections: c.Connections, Rate: c.Rate})
		if err == nil {
			err = supervisor.CheckCommand(argv[0])
		}
		if err != nil {
			return fmt.Errorf("--load: %w", err)
		}
	}
	if c.LoadCommand == "" {
		return c.loadOptions([]string{strings.ReplaceAll(c.URL, PortPlaceholder, "1")}, 0, c.Duration).Check()
	}
	return nil
}

// loadOptions is a run of our own engine; rate 0 is the closed loop.
func (c Config) loadOptions(urls []string, rate float64, duration time.Duration) load.Options {
	return load.Options{
		URLs: urls, Method: c.Method, Headers: c.Headers, Body: c.Body, Connections: c.Connections,
		Rate: rate, Duration: duration, Timeout: c.RequestTimeout, CPUs: c.LoadCPUs,
	}
}
