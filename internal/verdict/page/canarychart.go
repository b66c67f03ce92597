package page

import (
	"strconv"

	"github.com/procfit/procfit/internal/show/axis"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/number"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/internal/verdict/canary"
)

// charts show one figure over time, of each setting beside its control: the user's own
// where there is one, else CPU time.
func (w canaryWords) charts() (list []document.Chart) {
	for _, f := range w.Header.Figures() {
		if !w.Has(f) {
			continue
		}
		high := 0.0
		for _, s := range w.Slices {
			for _, a := range s.Settings {
				if x := w.Value(f, a); x != nil {
					high = max(high, *x)
				}
			}
		}
		ax := axis.New(0, high, false)
		for _, a := range w.Settings {
			if a.Procs != nil && a.Of(f) != nil {
				list = append(list, w.chart(f, a, ax))
			}
		}
		return list
	}
	return nil
}

func (w canaryWords) chart(f canary.Figure, a canary.SettingResult, ax axis.Axis) document.Chart {
	u := w.unit(f)
	name := phrase.Clean(a.Label)
	c := document.Chart{
		Title: w.name(f) + ", GOMAXPROCS " + name, Unit: u.Name(), Axis: "slice", Note: "by slices of " + number.Short(number.Seconds(w.Header.Canary.SliceSeconds)),
		Ticks: ticks(u, ax), Series: []document.Series{{Name: "the control, " + canary.Control}, {Name: name}},
	}
	for _, s := range w.Slices {
		of := map[string]*float64{}
		for _, seen := range s.Settings {
			of[seen.Setting.Label] = w.Value(f, seen)
		}
		if _, ran := of[a.Label]; !ran {
			continue
		}
		k := document.Category{Label: strconv.Itoa(len(c.Categories) + 1)}
		for i, label := range []string{canary.Control, a.Label} {
			series := &c.Series[i]
			m, text := document.Mark{}, "not known"
			if x := of[label]; x != nil {
				n := len(series.Marks)
				m = document.Mark{Present: true, At: ax.At(*x), Value: u.Value(*x), Joined: n > 0 && series.Marks[n-1].Present}
				text = m.Value
			}
			series.Marks = append(series.Marks, m)
			if k.Value != "" {
				k.Value += ", "
			}
			k.Value += series.Name + " " + text
		}
		c.Categories = append(c.Categories, k)
	}
	if m := a.Of(f); m != nil {
		value, interval := changes(m.Ratio)
		c.Summary = c.Title + " over " + phrase.Count(len(c.Categories), "slice") + ": " + value + " " + interval + " against the control"
	}
	return c
}
