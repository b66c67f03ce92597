package ps

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/procfit/procfit/internal/inspect"
	"github.com/procfit/procfit/internal/program/observe"
)

// document is procfit.ps/v1. Unknown values are null.
type document struct {
	Schema          string           `json:"schema"`
	Time            time.Time        `json:"time"`
	IntervalSeconds *float64         `json:"interval_seconds"` // null: counted since the start of each process
	Counters        string           `json:"counters"`         // the source of switches and waiting
	Processes       []process        `json:"processes"`
	Unreadable      []unreadableJSON `json:"unreadable"`
}

// process has the values of all columns, by their names.
type process struct{ *observe.Process }

func (p process) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, c := range inspect.All() {
		b.WriteByte("{,"[min(i, 1)])
		fmt.Fprintf(&b, "%q:", c.Name)
		if err := enc.Encode(c.Value(p.Process)); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

type unreadableJSON struct {
	PID    int    `json:"pid"`
	Name   string `json:"name,omitempty"`
	Reason string `json:"reason"`
}

// WriteJSON prints procfit.ps/v1, on one line or indented.
func WriteJSON(w io.Writer, snap observe.Snapshot, indent bool) error {
	out := document{
		Schema: "procfit.ps/v1", Time: snap.At, Counters: string(snap.Counters),
		Processes: []process{}, Unreadable: []unreadableJSON{},
	}
	if snap.Interval > 0 {
		seconds := snap.Interval.Seconds()
		out.IntervalSeconds = &seconds
	}
	for i := range snap.Processes {
		out.Processes = append(out.Processes, process{&snap.Processes[i]})
	}
	for _, u := range snap.Unreadable {
		out.Unreadable = append(out.Unreadable, unreadableJSON{u.PID, u.Name, u.Reason})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if indent {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(out)
}
