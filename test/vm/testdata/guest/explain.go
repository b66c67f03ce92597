//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// explain has procfit decide for every probe that runs, in one call: a line of
// JSON each, in the order of the PIDs.
func explain(answers []Answer) error {
	var running []*Answer
	var pids []string
	for i := range answers {
		if answers[i].Error == "" {
			running = append(running, &answers[i])
			pids = append(pids, strconv.Itoa(answers[i].PID))
		}
	}
	if len(running) == 0 {
		return nil
	}
	cmd := exec.Command("/procfit", append([]string{"explain", "--json"}, pids...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", cmd, err)
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(lines) != len(running) {
		return fmt.Errorf("%d decisions for %d processes", len(lines), len(running))
	}
	for i, a := range running {
		a.Says = json.RawMessage(lines[i])
	}
	return nil
}
