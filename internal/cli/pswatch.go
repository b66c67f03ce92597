package cli

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/procfit/procfit/internal/observe"
	"github.com/procfit/procfit/internal/tui"
)

// live is the view of the whole screen.
func (o *psOptions) live(ctx context.Context, io stdio, scan scanFunc) error {
	if err := o.first(ctx, io, scan); err != nil {
		return err
	}
	return tui.Run(ctx, tui.Options{
		Scan: scan, Interval: o.interval, Sort: o.sort, Explain: explainProcess,
		In: io.in, Out: io.out, Color: io.color(),
	})
}

// explainProcess is what procfit explain --pid prints.
func explainProcess(p observe.Process) string {
	who := "process " + strconv.Itoa(p.PID) + " (" + printable(p.Name) + ")"
	var b bytes.Buffer
	if err := newExplanation(p.Subject, who, "").writeText(&b, false); err != nil {
		return fmt.Sprint(err)
	}
	return b.String()
}
