//go:build !portable

package procstat

import (
	"errors"
	"fmt"
	"os"

	"github.com/mdlayher/genetlink"
	"github.com/mdlayher/netlink"
)

// The generic netlink interface of taskstats (include/uapi/linux/taskstats.h).
const (
	cmdGet       = 1
	attrPID      = 1 // in a request: one thread
	attrTGID     = 2 // in a request: a whole process
	typeStats    = 3
	typeAggrPID  = 4 // holds typeStats
	typeAggrTGID = 5
)

// taskstats asks the kernel for the counters of whole processes.
type taskstats struct {
	conn   *genetlink.Conn
	family genetlink.Family
}

// openTaskstats returns an error where taskstats is missing, not allowed, or not
// what is expected here: the counters of procfit's main thread must lie between
// two readings of the same in /proc.
func openTaskstats() (*taskstats, error) {
	// Answers have some hundred bytes. Without a buffer for them, the size of each is asked for.
	conn, err := genetlink.Dial(&netlink.Config{MessageBufferSize: 16 << 10})
	if err != nil {
		return nil, fmt.Errorf("taskstats: %w", err)
	}
	t := &taskstats{conn: conn}
	if err := t.prepare(); err != nil {
		conn.Close()
		return nil, fmt.Errorf("taskstats: %w", err)
	}
	return t, nil
}

func (t *taskstats) prepare() (err error) {
	if t.family, err = t.conn.GetFamily("TASKSTATS"); err != nil {
		return err
	}
	pid := os.Getpid()
	before, err := readTask(pid, pid)
	if err != nil {
		return err
	}
	got, err := t.get(attrPID, pid)
	if err != nil {
		return err
	}
	after, err := readTask(pid, pid)
	if err != nil {
		return err
	}
	if !got.between(before, after) {
		return errors.New("this kernel's structure has another layout")
	}
	return nil
}

func (t *taskstats) close() error { return t.conn.Close() }

// process returns the counters of all threads of a process, exited ones too.
func (t *taskstats) process(pid int) (counters, error) { return t.get(attrTGID, pid) }

func (t *taskstats) get(attr uint16, id int) (counters, error) {
	enc := netlink.NewAttributeEncoder()
	enc.Uint32(attr, uint32(id))
	data, err := enc.Encode()
	if err != nil {
		return counters{}, err
	}
	msgs, err := t.conn.Execute(genetlink.Message{
		Header: genetlink.Header{Command: cmdGet, Version: t.family.Version},
		Data:   data,
	}, t.family.ID, netlink.Request)
	if err != nil {
		return counters{}, err
	}
	for _, m := range msgs {
		c, ok, err := parseReply(m.Data)
		if ok || err != nil {
			return c, err
		}
	}
	return counters{}, fmt.Errorf("no counters in the answer for %d", id)
}

// parseReply reads the attributes of an answer; false without any counters.
func parseReply(b []byte) (c counters, found bool, err error) {
	dec, err := netlink.NewAttributeDecoder(b)
	if err != nil {
		return c, false, err
	}
	for dec.Next() {
		if dec.Type() != typeAggrTGID && dec.Type() != typeAggrPID {
			continue
		}
		dec.Nested(func(in *netlink.AttributeDecoder) error {
			for in.Next() {
				if in.Type() == typeStats {
					if c, err = parseTaskstats(in.Bytes()); err != nil {
						return err
					}
					found = true
				}
			}
			return nil
		})
	}
	if err := dec.Err(); err != nil {
		return counters{}, false, err
	}
	return c, found, nil
}
