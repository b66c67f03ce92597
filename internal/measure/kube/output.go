package kube

import (
	"context"
	"fmt"
	"time"

	"github.com/procfit/procfit/internal/host/supervisor"
	"github.com/procfit/procfit/internal/load"
)

// logsTake is how long the logs of a trial may take.
const logsTake = 20 * time.Second

// outputs are what the targets have printed, which it writes into the results folder.
func (r *run) outputs(ctx context.Context) (list []load.Output, err error) {
	if ctx.Err() != nil {
		return nil, nil // there is no trial to keep them of
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), logsTake)
	defer cancel()
	for i, one := range r.fleet {
		text, cut, failed := r.cluster.logs(ctx, one.name, r.container)
		if failed != nil {
			err = fmt.Errorf("the output of pod %s: %w", one.name, failed) // an API server may be slow just then
			continue
		}
		list = append(list, r.keep(i, text, cut))
	}
	if len(list) < len(r.fleet) {
		list = nil
	}
	return list, err
}

// keep writes a replica's output into the results folder.
func (r *run) keep(replica int, text []byte, cut bool) load.Output {
	if f, path, err := r.config.CreateLog(r.LogName(replica) + ".log"); err == nil {
		f.Write(text)
		f.Close()
		if replica == 0 {
			r.Trial.Log = path
		}
	}
	head, tail, cut := supervisor.Parts(text, supervisor.Exit{LogCut: cut})
	return load.Output{Head: head, Cut: cut, Tail: tail}
}
