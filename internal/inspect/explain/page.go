package explain

import (
	"fmt"
	"io"

	"github.com/procfit/procfit/internal/program/rule"
)

// WriteRule prints a rule's page.
func WriteRule(w io.Writer, r rule.Rule) error {
	_, err := fmt.Fprintf(w, "%s  %s\n%s, since procfit %s\n\n%s\n\nWhat to do\n\n%s\n", r.ID, r.Title, r.Severity, r.Since, r.Why, r.Fix)
	return err
}
