package document

import (
	"slices"
	"testing"
)

func TestLine(t *testing.T) {
	for text, want := range map[string]Item{
		"":                                   {},
		"trials vary: use a quieter machine": {Text: "trials vary: use a quieter machine"},
		"a: b. To continue, run: procfit sweep --url http://a/": {Text: "a: b. To continue, run", Command: "procfit sweep --url http://a/"},
	} {
		if got := Line(text); got != want || got.String() != text {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func TestProse(t *testing.T) {
	for text, want := range map[string][]Part{
		"":                  {{false, ""}},
		"no code":           {{false, "no code"}},
		"run `go vet` now":  {{false, "run "}, {true, "go vet"}, {false, " now"}},
		"one ` alone":       {{false, "one "}, {false, "` alone"}},
		"`a` and one ` too": {{false, ""}, {true, "a"}, {false, " and one "}, {false, "` too"}},
	} {
		if got := Prose(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
