package page

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/procfit/procfit/internal/verdict"
	"github.com/procfit/procfit/internal/verdict/page/pagetest"
	"github.com/procfit/procfit/test/must"
)

// Every field of a Result is in result.json, or is named here as one that is not: what else the
// pages need, and what a table has, such as estimates.
func TestEveryFieldIsCopied(t *testing.T) {
	shown := []string{"Rows", "Benchmarks", "Spread", "Race", "Part", "Override", "Beyond", "Allocates", "Throttling.AdviceOwn",
		"Recommendation.Claim", "Recommendation.Reasons", "Recommendation.Next", "Settings[].Later", "Settings[].Judged", "Settings[].Sliced", "Settings[].Points"}
	for _, counter := range []string{"FaultHeldPs", "MajorFaultsPerSecond", "BurstPeriodsRatio", "ThrottledRatio", "MachineBusy", "SendLagP99", "Dropped", "RSSBytes"} {
		shown = append(shown, "Settings[].Evidence."+counter, "Settings[].OpenEvidence."+counter)
	}
	everyField(t, func(g *verdict.Group) groupJSON { return groupSchema(g, recommendationSchema(&g.Recommendation)) }, shown...)
	everyField(t, valueSchema, "Setting", "Default", "N", "Saturated", "Out")
	everyField(t, func(b *verdict.Best) bestJSON { return bestSchema(&verdict.Result{}, b) })
	everyField(t, func(g *verdict.Gate) gateJSON { return gateSchema(g, &verdict.Result{}) }, "Unjudged")
	everyField(t, canarySchema, "Settings[].Figures[].Points", "Settings[].Void")
	everyField(t, liveSchema, "Settings[].Figures[].Points", "Settings[].Void")
	everyField(t, cheapestSchema)
	everyField(t, profileSchema)
	walked := []string{"Groups", "Compared", "Best", "Gate", "Canary", "Live", "Cheapest", "Profiled"} // above
	worded := []string{"Warnings", "Recommendation"}                                                   // see TestJSONHasTheWords
	everyField(t, resultSchema, slices.Concat(walked, worded, []string{"Settings", "Folder", "TrialSeconds"})...)
}

// everyField sets each field of a type, and those of the types that it holds, to something and
// asks whether its copy then differs, as JSON has it. The journal's own types are copied whole.
func everyField[A, B any](t *testing.T, schema func(*A) B, leftOut ...string) {
	var a A
	text := func() string {
		b := must.Get(json.Marshal(schema(&a)))(t)
		return string(b)
	}
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		before := reflect.New(v.Type()).Elem()
		before.Set(v)
		defer v.Set(before)
		own := v.Kind() == reflect.Struct && strings.Contains(v.Type().PkgPath(), "/verdict") && !strings.HasSuffix(v.Type().PkgPath(), "/journal")
		switch {
		case own:
			for i := range v.NumField() {
				name := v.Type().Field(i).Name
				if !v.Type().Field(i).IsExported() || slices.Contains(leftOut, strings.TrimPrefix(path+"."+name, ".")) {
					continue
				}
				if v.Type().Field(i).Anonymous {
					name = ""
				}
				walk(v.Field(i), strings.TrimSuffix(strings.TrimPrefix(path+"."+name, "."), "."))
			}
			return
		case v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct:
			v.Set(reflect.New(v.Type().Elem()))
			walk(v.Elem(), path)
			return
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			walk(v.Index(0), path+"[]")
			return
		}
		empty := text()
		pagetest.Fill(v, 7, "seven", true)
		if text() == empty {
			t.Errorf("%T: result.json does not have %s", a, path)
		}
	}
	walk(reflect.ValueOf(&a).Elem(), "")
}
