package cli

import (
	"io"
	"net/http"
	"regexp"
	"slices"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptPage (page URL REGEXP…) loads a page until all of them find a match in it.
func scriptPage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: page URL REGEXP…")
	}
	var wanted []*regexp.Regexp
	for _, a := range args[1:] {
		re, err := regexp.Compile(a)
		ts.Check(err)
		wanted = append(wanted, re)
	}
	eventually(ts, "a page at "+args[0]+" with all that is wanted", func() bool {
		resp, err := http.Get(args[0])
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		return err == nil && !slices.ContainsFunc(wanted, func(re *regexp.Regexp) bool { return !re.Match(b) })
	})
}
