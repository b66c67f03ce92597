package html

import (
	"io"

	"github.com/procfit/procfit/internal/verdict/page"
)

// RenderLab writes the index page of a lab run.
func RenderLab(out io.Writer, v *page.Lab) error { return Execute(out, nil, "index.html", v) }

// experimentPage is one experiment with what its page shares with the index.
type experimentPage struct {
	page.Experiment
	Started     string
	Environment []page.Pair
}

// RenderExperiment writes the page of one of its experiments.
func RenderExperiment(out io.Writer, v *page.Lab, e page.Experiment) error {
	return Execute(out, nil, "experiment.html", experimentPage{e, v.Started, v.Environment})
}
