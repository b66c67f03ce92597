package agent

import (
	"testing"
	"time"
)

// The test itself is a Go program among the processes here, though the eye leaves out
// its own: what is seen and counted is of others.
func TestSpan(t *testing.T) {
	c := &Client{Token: testToken, Transport: serve(t, &offers{}), Patience: time.Minute}
	id, err := c.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	counted, err := c.Stop(t.Context(), id)
	if err != nil || counted.Error != "" || counted.MeasuredSeconds <= 0 || counted.HostUse == nil || counted.CPUSeconds == nil {
		t.Errorf("%+v, %v", counted, err)
	}
	if _, err := c.Stop(t.Context(), "/spans/none"); err == nil {
		t.Error("a span that was never begun has an end")
	}
}
