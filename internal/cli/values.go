package cli

import (
	"os"
	"strings"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/internal/load/rpc"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/ready/health"
)

// settle makes a Spec of flags: it reads their files, and hands in who speaks gRPC.
func settle(f *plan.Flags, std stdio) (spec plan.Spec, err error) {
	spec = f.Spec
	spec.Target.Ready.Health = health.Service{}
	if f.Body != "" && f.BodyFile != "" {
		return spec, usageError("--body and --body-file exclude each other")
	}
	spec.Load.Body = []byte(f.Body)
	if f.BodyFile != "" {
		if spec.Load.Body, err = readInput("body-file", f.BodyFile, mostBody, std); err != nil {
			return spec, err
		}
	}
	if n := f.Neighbour; n.Command != nil {
		spec.Target.Beside = &n
	}
	if call := f.Call; call.Method != "" {
		call.Calls, call.Data = rpc.Calls{}, []byte(f.Data)
		if file, ok := strings.CutPrefix(f.Data, "@"); ok {
			call.Data, err = readInput("data", file, mostBody, std)
		}
		spec.Load.GRPC = &call
	}
	return spec, err
}

// namedCPUs are those that a name such as node0 means here, which is told.
func (s stdio) namedCPUs(flag, name string) (cpuset.Set, error) {
	cpus, err := topology.Read(os.DirFS("/sys"), topology.Allowed()).Select(name)
	if err != nil {
		return nil, err
	}
	s.notef("--%s %s: CPUs %s", flag, name, cpuset.Format(cpus))
	return cpus, nil
}

// mostBody bounds the body of a request, in bytes; a pod that sends the load gets it as
// one message.
const mostBody = 64 << 20

// readInput reads the file of a flag, or standard input: a pipe too, until a signal.
func readInput(flag, file string, most int64, in stdio) (b []byte, err error) {
	if file == "-" {
		b, err = folder.ReadAll(in.ctx, in.in, most)
	} else {
		b, err = folder.ReadFile(in.ctx, file, most)
	}
	if err != nil && in.ctx.Err() == nil {
		err = usageError("--%s: %w", flag, err)
	}
	return b, err
}
