package canary

import (
	"maps"
	"slices"
	"time"
)

// HarmCode is what a setting suffers.
type HarmCode string

const (
	HarmEnded   HarmCode = "ended"   // a container of it did, or was restarted
	HarmUnready HarmCode = "unready" // for longer than UnreadyMost
	HarmQuery   HarmCode = "query"   // above the control's by more than allowed, in slices on end
)

const (
	// UnreadyMost is how long a pod may not be ready.
	UnreadyMost = 10 * time.Second
	// harmSlices is in how many slices on end a query has to be above the control's: one
	// may be a chance.
	harmSlices = 2
)

// Harm is why a canary ends before its time.
type Harm struct {
	Code    HarmCode `json:"code"`
	Setting string   `json:"setting"`
	Pod     string   `json:"pod,omitempty"`
	// Detail is how a container ended, or what a pod that is not ready says.
	Detail string `json:"detail,omitempty"`
	// Query, with its values and the control's in the slices that decide.
	Query    string    `json:"query,omitempty"`
	Values   []float64 `json:"values,omitempty"`
	Controls []float64 `json:"controls,omitempty"`
}

// OfControl tells that it befell the control, and so not by the setting.
func (h *Harm) OfControl() bool { return h.Setting == Control }

// Condition is one pod as it is.
type Condition struct {
	Setting, Pod string
	Ended        string // how a container ended; empty: all run, for the first time
	Taken        string // by whom the pod was taken away; empty: it is there
	Ready        bool
	Detail       string // what it says of not being ready
}

// watch looks for harm in what pods are from time to time.
type watch struct{ unready map[string]time.Time }

// see is the harm, or by whom a pod was taken away, which is none of the setting's.
func (w *watch) see(now time.Time, list []Condition) (*Harm, string) {
	if w.unready == nil {
		w.unready = map[string]time.Time{}
	}
	for _, c := range list {
		switch {
		case c.Taken != "":
			return nil, c.Taken
		case c.Ended != "":
			return &Harm{Code: HarmEnded, Setting: c.Setting, Pod: c.Pod, Detail: c.Ended}, ""
		case c.Ready:
			delete(w.unready, c.Pod)
			continue
		}
		since, ok := w.unready[c.Pod]
		if !ok {
			w.unready[c.Pod] = now
		} else if now.Sub(since) >= UnreadyMost {
			return &Harm{Code: HarmUnready, Setting: c.Setting, Pod: c.Pod, Detail: c.Detail}, ""
		}
	}
	return nil, ""
}

// harmIn looks at the last slices of one round. ratio is how far above the control's a
// query may be: 0.2 is 20 %.
func harmIn(list []Slice, ratio float64) *Harm {
	if len(list) < harmSlices {
		return nil
	}
	last := list[len(list)-harmSlices:]
	for i := range last[0].Settings {
		for _, name := range slices.Sorted(maps.Keys(last[0].Settings[i].Queries)) {
			if h := above(last, i, name, ratio); h != nil {
				return h
			}
		}
	}
	return nil
}

// above is the harm of one setting by one query, in every one of the slices.
func above(list []Slice, setting int, name string, ratio float64) *Harm {
	h := &Harm{Code: HarmQuery, Setting: list[0].Settings[setting].Label, Query: name}
	for _, s := range list {
		control := s.control()
		if control == nil || h.OfControl() || setting >= len(s.Settings) {
			return nil
		}
		is, was := s.Settings[setting].Queries[name], control.Queries[name]
		if is == nil || was == nil || !(*is > *was*(1+ratio)) {
			return nil
		}
		h.Values, h.Controls = append(h.Values, *is), append(h.Controls, *was)
	}
	return h
}
