package observe

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/procfit/procfit/internal/host/procstat"
	"github.com/procfit/procfit/internal/program/goproc"
)

// table is real output of Linux 6.18, shortened.
const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 0000000000000000 100 0 0 10 0
   1: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 112 1 0
   2: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 113 1 0000000000000000 100 0 0 10 0
   3: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000     0        0 114 1 0000000000000000 20 4 30 10 -1
`

func TestListening(t *testing.T) {
	for port, want := range map[int][]uint64{8080: {111, 112}, 8081: {113}, 50000: nil} {
		got, err := listening(strings.NewReader(table), port)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("port %d: %v, %v; want %v", port, got, err, want)
		}
	}
	if got, err := listening(strings.NewReader(""), 8080); got != nil || err != nil {
		t.Errorf("an empty table: %v, %v", got, err)
	}
	for from, to := range map[string]string{"0100007F:1F90 00000000": "0100007F1F90 00000000", ":1F90 00": ":1F9000 00", " 111 ": " x ", " 0 111 1 0000000000000000 100 0 0 10 0": ""} {
		if got, err := listening(strings.NewReader(strings.Replace(table, from, to, 1)), 8080); err == nil {
			t.Errorf("%q for %q: %v, no error", to, from, got)
		}
	}
}

func FuzzListening(f *testing.F) {
	f.Add(table, 8080)
	f.Fuzz(func(t *testing.T, table string, port int) {
		got, err := listening(strings.NewReader(table), port)
		if err != nil && got != nil || len(got) > strings.Count(table, "\n") {
			t.Errorf("%v, %v", got, err)
		}
	})
}

func TestBusiest(t *testing.T) {
	programs := map[int]goproc.Program{
		1: {Path: "cmd/go"}, 2: {Path: "example.com/server"}, 3: {Path: "example.com/helper"}, 5: {Path: "cmd/compile"},
	}
	program := func(pid int) (goproc.Program, error) {
		p, ok := programs[pid]
		if pid == 6 {
			return p, goproc.ErrPermission
		}
		if !ok {
			return p, goproc.ErrNotGo
		}
		return p, nil
	}
	cpu := []time.Duration{1: 9, 2: 5, 3: 4, 4: 20, 5: 30, 6: 1}
	for _, tt := range []struct {
		pids []int
		want int
	}{
		{[]int{1, 2, 3, 4, 5}, 2}, // not the go command, nor what is not Go
		{[]int{3, 2}, 2},
		{[]int{1, 3}, 3},
		{[]int{1, 5}, 5}, // nothing else there
		{[]int{4}, 0},
		{[]int{4, 6}, 0},
		{nil, 0},
	} {
		var live []procstat.Stat
		for _, pid := range tt.pids {
			live = append(live, procstat.Stat{PID: pid, User: cpu[pid] / 2, System: cpu[pid] - cpu[pid]/2})
		}
		got, err := busiest(live, program)
		if got != tt.want || (err == nil) != (tt.want != 0) {
			t.Errorf("of %v: %d, %v; want %d", tt.pids, got, err, tt.want)
		}
		// None that is Go's, and none that could be read, are two answers.
		if denied := slices.Contains(tt.pids, 6); err != nil && (errors.Is(err, ErrNotGo) == denied || errors.Is(err, goproc.ErrPermission) != denied) {
			t.Errorf("of %v: %v", tt.pids, err)
		}
	}
}

// TestAllPsHeld: how long faults held Ps is an estimate, and a program has no more Ps than it has.
func TestAllPsHeld(t *testing.T) {
	var p Process
	p.Total.Held = &procstat.FaultUse{Duration: time.Second, Held: 4100 * time.Millisecond}
	if f := p.faults(); f == nil || f.Held != 4.1 {
		t.Errorf("of unknown Ps: %+v", f)
	}
	p.Live = new(2)
	if f := p.faults(); f == nil || f.Held != 2 {
		t.Errorf("of 2 Ps: %+v", f)
	}
}
