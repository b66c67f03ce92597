package sched

import (
	"fmt"
	"slices"
)

const (
	maxProblems = 20
	maxQuote    = 120 // bytes
)

// Skipped is what began as a sample, or as a line of its details, and could not
// be read. Mostly other output fell in between, or the log ends there.
type Skipped struct {
	Count int64     `json:"count"`
	First []Problem `json:"first"` // at most maxProblems
}

// Problem is one of them.
type Problem struct {
	Line int64  `json:"line"`
	Text string `json:"text"` // clipped to maxQuote bytes, raw: print it quoted
	Why  string `json:"why"`
}

func (p Problem) String() string {
	return fmt.Sprintf("line %d: %q %s", p.Line, p.Text, p.Why)
}

func (s *Skipped) add(line int64, text []byte, why string) {
	s.Count++
	if len(s.First) >= maxProblems {
		return
	}
	quote := string(text)
	if len(text) > maxQuote { // its beginning, and where it breaks off
		quote = quote[:maxQuote/3] + "…" + quote[len(quote)-maxQuote*2/3:]
	}
	s.First = append(s.First, Problem{Line: line, Text: quote, Why: why})
}

func (s Skipped) clone() Skipped {
	s.First = slices.Clone(s.First)
	return s
}
