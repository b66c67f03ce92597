package phrase

import (
	"slices"
	"testing"
)

func TestDistance(t *testing.T) {
	for words, want := range map[[2]string]int{{"", ""}: 0, {"", "abc"}: 3, {"abc", ""}: 3, {"kitten", "sitting"}: 3, {"abc", "abc"}: 0, {"ab", "ba"}: 2} {
		if got := distance(words[0], words[1]); got != want {
			t.Errorf("%q: got %d, expected %d", words, got, want)
		}
	}
}

func TestNear(t *testing.T) {
	known := []string{"go", "fit", "automaxprocs", "jvm"}
	for word, want := range map[string][]string{"fits": {"fit"}, "AUTOMAX": {"automaxprocs"}, "jmv": nil, "nothing": nil} {
		if got := Near(word, known); !slices.Equal(got, want) {
			t.Errorf("%q: %q, expected %q", word, got, want)
		}
	}
	if got := Near("PF03", []string{"PF013", "PF003", "PF300"}); got[0] != "PF013" {
		t.Errorf("%q: of the same distance the first known comes first", got)
	}
	if got := DidYouMean("fitt", known); got != ". Did you mean fit?" {
		t.Errorf("%q", got)
	}
	if got := DidYouMean("nothing", known); got != "" {
		t.Errorf("%q", got)
	}
}
