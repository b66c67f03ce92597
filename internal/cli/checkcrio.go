package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/procfit/procfit/internal/check"
	"github.com/procfit/procfit/internal/check/output"
	"github.com/procfit/procfit/internal/measure/plan/field"
	"github.com/procfit/procfit/internal/show/phrase"
	"github.com/procfit/procfit/maxprocs/facts"
)

// crioField is --crio, which asks for the impact of CRI-O's injection in place of findings.
func (o *checkOptions) crioField() field.Field {
	return field.Field{
		Name: "crio", Holds: "FLOOR", Help: "report what CRI-O's injection with this floor changes: 4, or first:4",
		More:  "The floor is min_injected_gomaxprocs. first:4 is the formula of the first releases that inject. Findings are not reported.",
		Value: field.Parsed(&o.crio, "", field.Maybe(readCRIO)), Not: "fix diff",
	}
}

// checkJSON is the help of --json.
const checkJSON = "print procfit.check/v1, or with --crio procfit.crio/v1: the same as -o json"

// firstFormula is before a floor of the first releases.
const firstFormula = "first"

// readCRIO reads 4 or first:4.
func readCRIO(text string) (facts.CRIO, error) {
	word, floor, has := strings.Cut(text, ":")
	if !has {
		word, floor = "", text
	}
	n, err := strconv.Atoi(floor)
	switch {
	case has && word != firstFormula:
		return facts.CRIO{}, fmt.Errorf("%q: expected a floor such as 4, or first:4 for the formula of the first releases", text)
	case err == nil && n == 0:
		return facts.CRIO{}, fmt.Errorf("%q: a floor of 0 switches the injection off; expected 1 or more", text)
	case err != nil || n < 1 || n > math.MaxInt32:
		return facts.CRIO{}, fmt.Errorf("%q: expected a floor from 1 to %d, such as 4, or first:4 for the formula of the first releases", text, math.MaxInt32)
	}
	return facts.CRIO{Floor: n, First: has}, nil
}

// checkCRIO refuses the formats and the flags that are for findings alone.
func (o *checkOptions) checkCRIO(given []string) error {
	for _, name := range []string{"severity", "ignore", "exit-zero"} {
		if o.crio != nil && slices.Contains(given, name) {
			return usageError("--%s has no effect with --crio, whose report has no findings; remove --%[1]s", name)
		}
	}
	for _, to := range o.out.all() {
		if o.crio != nil && !slices.Contains(output.ImpactFormats(), to.format) {
			return usageError("--crio and -o %s: the report of --crio has no findings; use -o %s", to.format, phrase.Or(output.ImpactFormats()))
		}
	}
	return nil
}

// writeImpact prints what the injection changes. What it finds decides no exit code.
func (o *checkOptions) writeImpact(std stdio, report *check.Report, options output.Options) error {
	impact := report.Impact(*o.crio)
	err := o.out.write(std, func(w io.Writer, format string) error {
		options.Color, options.Width = w == std.out && std.color(), 0
		if w == std.out {
			options.Width = terminalWidth(std)
		}
		return output.WriteImpact(w, format, report, impact, options)
	})
	if err != nil {
		return err
	}
	report.Findings = nil
	if err := o.verdict(report); err != nil || len(impact.Values) > 0 || o.allowEmpty {
		return err
	}
	return fmt.Errorf("no container of Kubernetes to report on in %s; with --allow-empty the exit code is 0", phrase.Count(report.Files, cmp.Or(report.Noun, "file")))
}
