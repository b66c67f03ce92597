package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/show/document"
	"github.com/procfit/procfit/internal/show/html"
	"github.com/procfit/procfit/internal/show/markdown"
	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page/bench"
)

// Write renders the Result into a directory that exists and returns the paths, the one to
// open first at the head. All of them are there afterwards, or none is changed.
func Write(dir string, r *verdict.Result) ([]string, error) {
	list, err := files(r)
	if err != nil {
		return nil, err
	}
	return folder.Write(dir, list...)
}

// WriteFailure writes the page of a sweep that has no verdict, and returns its path.
func WriteFailure(dir string, f *Failure) ([]string, error) {
	report, err := html.Render(f.Document())
	if err != nil {
		return nil, err
	}
	return folder.Write(dir, folder.File{Name: "report.html", Mode: folder.Shared, Content: report})
}

func files(r *verdict.Result) ([]folder.File, error) {
	v := New(r)
	result, err := JSON(r)
	if err != nil {
		return nil, err
	}
	report, err := html.Render(v.Report())
	if err != nil {
		return nil, err
	}
	list := []folder.File{
		{Name: "report.html", Mode: folder.Shared, Content: report},
		{Name: "RESULTS.md", Mode: folder.Shared, Content: markdown.Render(v.Report())},
		{Name: "result.json", Mode: folder.Shared, Content: result},
		{Name: "reproduce.sh", Mode: folder.Script, Content: []byte(v.Reproduce)},
	}
	if s := r.Settings; s != nil {
		list = append(list, folder.File{Name: s.Name, Mode: folder.Shared, Content: s.Text})
	}
	if r.Canary != nil || r.Live != nil { // whose slices are no benchmarks
		return list, nil
	}
	var trials bytes.Buffer
	if err := bench.Write(&trials, r); err != nil {
		return nil, err
	}
	return append(list, folder.File{Name: "bench.txt", Mode: folder.Shared, Content: trials.Bytes()}), nil
}

// JSON is result.json: indented, with a newline at its end. What the Result has as
// codes is there with its words. Values that JSON cannot hold become null (see
// finite).
func JSON(r *verdict.Result) ([]byte, error) {
	b, err := json.MarshalIndent(worded(finite(r)), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the result as JSON: %w", err)
	}
	return append(b, '\n'), nil
}

// The types below are those of package verdict with their words: an embedded field gives
// way to one of the same name next to it.

type resultJSON struct {
	*verdict.Result
	Groups         []groupJSON         `json:"groups"`
	Best           []bestJSON          `json:"best,omitempty"`
	Gate           *gateJSON           `json:"gate,omitempty"`
	Warnings       []warningJSON       `json:"warnings"`
	Recommendation *recommendationJSON `json:"recommendation"`
}

type groupJSON struct {
	*verdict.Group
	Recommendation recommendationJSON `json:"recommendation"`
}

type bestJSON struct {
	*verdict.Best
	Sentence string `json:"sentence"`
}

type recommendationJSON struct {
	*verdict.Recommendation
	Cause    verdict.ReasonCode `json:"cause,omitempty"`
	Sentence string             `json:"sentence"`
	Reasons  []string           `json:"reasons"`
	Settle   []string           `json:"settle,omitempty"`
}

type warningJSON struct {
	*verdict.Warning
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

type gateJSON struct {
	*verdict.Gate
	Checks   []checkJSON `json:"checks"`
	Unjudged string      `json:"unjudged,omitempty"`
}

type checkJSON struct {
	Setting string `json:"setting"`
	*verdict.GateCheck
	Note string `json:"note"`
}

func worded(r *verdict.Result) *resultJSON {
	out := &resultJSON{Result: r, Groups: []groupJSON{}, Warnings: []warningJSON{}}
	for i := range r.Groups {
		g := &r.Groups[i]
		out.Groups = append(out.Groups, groupJSON{Group: g, Recommendation: recommendation(words{g, r})})
	}
	for i := range r.Best {
		out.Best = append(out.Best, bestJSON{&r.Best[i], bestSentence(r, &r.Best[i])})
	}
	if r.Recommendation != nil && len(out.Groups) == 1 {
		out.Recommendation = &out.Groups[0].Recommendation
	}
	if r.Canary != nil || r.Live != nil {
		v := New(r).Verdict
		out.Recommendation = &recommendationJSON{Recommendation: r.Recommendation, Sentence: v.Sentence, Reasons: v.Reasons, Settle: sentences(v.Settle)}
	}
	for i := range r.Warnings {
		a := warn(r, &r.Warnings[i])
		out.Warnings = append(out.Warnings, warningJSON{&r.Warnings[i], a.message, a.fix})
	}
	if r.Gate != nil {
		out.Gate = &gateJSON{Gate: r.Gate, Checks: []checkJSON{}, Unjudged: Unjudged(r.Gate)}
		for i := range r.Gate.Checks {
			c := &r.Gate.Checks[i]
			out.Gate.Checks = append(out.Gate.Checks, checkJSON{gateSetting(c.Setting), c, gateNote(c, r.Plan)})
		}
	}
	return out
}

func recommendation(w words) recommendationJSON {
	rec := &w.group.Recommendation
	return recommendationJSON{
		Recommendation: rec, Cause: rec.Claim.Code,
		Sentence: called(rec).prefix + w.sentence(), Reasons: w.reasons(), Settle: sentences(w.settle()),
	}
}

// sentences are advice as one text each.
func sentences(list []document.Item) (out []string) {
	for _, a := range list {
		out = append(out, a.String())
	}
	return out
}

// finite is a copy of a Result without NaN and infinities, which neither JSON nor
// an axis can hold: the nearest pointer above one becomes nil, since absent is
// null; one with no pointer above it becomes 0.
func finite(r *verdict.Result) *verdict.Result {
	c, _ := finiteCopy(reflect.ValueOf(*r))
	out := c.Interface().(verdict.Result)
	return &out
}

// finiteCopy reports false when the copy had to replace a value that no pointer
// within it could absorb.
func finiteCopy(v reflect.Value) (reflect.Value, bool) {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	ok := true
	switch v.Kind() {
	case reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			out.SetFloat(0)
			ok = false
		}
	case reflect.Pointer:
		if v.IsNil() {
			break
		}
		c, good := finiteCopy(v.Elem())
		if !good {
			out.SetZero()
			break
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(c)
		out.Set(p)
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() { // time.Time: holds no float
				continue
			}
			c, good := finiteCopy(v.Field(i))
			out.Field(i).Set(c)
			ok = ok && good
		}
	case reflect.Slice:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			c, good := finiteCopy(v.Index(i))
			out.Index(i).Set(c)
			ok = ok && good
		}
	case reflect.Map:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeMap(v.Type()))
		for _, k := range v.MapKeys() {
			c, good := finiteCopy(v.MapIndex(k))
			out.SetMapIndex(k, c)
			ok = ok && good
		}
	}
	return out, ok
}
