package journal

import (
	"fmt"
	"time"
)

// Profiled is one setting whose CPU time and memory were counted by function, in a run of its
// own after the trials. It is not a trial: nothing is compared with it.
type Profiled struct {
	Kind            string    `json:"kind"`
	Setting         Setting   `json:"setting"`
	Started         time.Time `json:"started"`
	DurationSeconds float64   `json:"duration_seconds"`
	ObservedProcs   *int      `json:"observed_procs"`    // of the replica that was profiled; null: not readable
	Missing         string    `json:"missing,omitempty"` // why there is no profile, or only one, in words
	CPU             *Profile  `json:"cpu"`               // null: see missing
	Allocations     *Profile  `json:"allocations"`       // in the same way
}

// Profile is what a profile comes to by function. A sum is of the function itself, without
// what it calls.
type Profile struct {
	File      string             `json:"file"`               // relative to the results directory; go tool pprof reads it
	Seconds   float64            `json:"seconds"`            // that it covers
	Total     float64            `json:"total"`              // seconds of CPU time, or bytes
	Functions []ProfiledFunction `json:"functions"`          // the largest first
	Left      int                `json:"left_out,omitempty"` // smaller functions that are not named
}

// ProfiledFunction is what a function took itself.
type ProfiledFunction struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"` // in the unit of the total
}

// Share is what a function took of all; nil: it may be one of those that are not named.
func (p *Profile) Share(name string) *float64 {
	for _, f := range p.Functions {
		if f.Name == name {
			return new(f.Value / p.Total)
		}
	}
	if p.Left > 0 {
		return nil
	}
	return new(0.0)
}

// addProfiled takes a line of the journal.
func (c *Contents) addProfiled(p Profiled) error {
	if len(c.Profiled) == mostSettings {
		return fmt.Errorf("it has more than %d profiled settings, more than procfit ever profiles", mostSettings)
	}
	c.Profiled = append(c.Profiled, p)
	return c.know(p.Setting)
}

// AppendProfiled writes the profiles of a setting, as Append writes a trial.
func (w *Writer) AppendProfiled(p Profiled) error {
	p.Kind, p.Missing = KindProfiled, w.quote(p.Missing)
	return w.appendHeld(p)
}
