package trace

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The intervals of the runtime's lines where none is asked for. With details it
// writes a line for each goroutine and stops meanwhile.
const (
	interval       = 100 * time.Millisecond
	detailInterval = time.Second
)

// settings are what the runtime is told, and the environment that tells it.
type settings struct {
	env      []string
	interval time.Duration
	detail   bool
}

// settings adds the trace to GODEBUG. What is there already about the trace
// holds where the command says nothing.
func (c Command) settings() settings {
	set := settings{interval: c.Interval, detail: c.Detail}
	var kept []string
	for _, v := range c.Env {
		value, ok := strings.CutPrefix(v, "GODEBUG=")
		if !ok {
			set.env = append(set.env, v)
			continue
		}
		kept = kept[:0]
		for setting := range strings.SplitSeq(value, ",") {
			name, number, _ := strings.Cut(setting, "=")
			switch n, err := strconv.Atoi(number); {
			case name == "schedtrace":
				if err == nil && n > 0 && set.interval == 0 {
					set.interval = time.Duration(n) * time.Millisecond
				}
			case name == "scheddetail":
				set.detail = set.detail || err == nil && n > 0
			case setting != "":
				kept = append(kept, setting)
			}
		}
	}
	switch {
	case set.interval > 0:
	case set.detail:
		set.interval = detailInterval
	default:
		set.interval = interval
	}
	set.interval = set.interval.Truncate(time.Millisecond)
	kept = append(kept, fmt.Sprintf("schedtrace=%d", set.interval.Milliseconds()))
	if set.detail {
		kept = append(kept, "scheddetail=1")
	}
	set.env = append(set.env, "GODEBUG="+strings.Join(kept, ","))
	return set
}
