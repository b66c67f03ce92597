package cli

import (
	"bytes"
	"os"
	"slices"
	"strings"

	"github.com/procfit/procfit/internal/host/cpuset"
	"github.com/procfit/procfit/internal/host/folder"
	"github.com/procfit/procfit/internal/host/topology"
	"github.com/procfit/procfit/internal/load"
	"github.com/procfit/procfit/internal/load/requests"
	"github.com/procfit/procfit/internal/load/rpc"
	"github.com/procfit/procfit/internal/measure/plan"
	"github.com/procfit/procfit/internal/program/target"
	"github.com/procfit/procfit/internal/show/number"
)

// toSpec makes a Spec of flags: it reads their files, asks this machine for CPUs by their
// names, and hands in who speaks gRPC.
func toSpec(f *plan.Flags, std stdio) (spec plan.Spec, err error) {
	spec = f.Spec
	spec.Target.Ready.Health = rpc.Health{}
	if spec.Target.CPUs, err = std.named("target", f.TargetNamed, spec.Target.CPUs); err != nil {
		return spec, err
	}
	if spec.Load.CPUs, err = std.named("load", f.LoadNamed, spec.Load.CPUs); err != nil {
		return spec, err
	}
	body := []byte(f.Body)
	if file, ok := strings.CutPrefix(f.Body, "@"); ok {
		if body, err = readInput("body", file, 64<<20, std); err != nil { // bytes: a pod that sends the load gets them as one message
			return spec, err
		}
	}
	if n := f.Neighbour; n.Command != nil {
		spec.Target.Beside = &n
	} else if n.Quota != nil {
		return spec, usageError("--limit beside=%s needs --beside COMMAND", number.BareCPUs(*n.Quota))
	}
	call := f.Call
	if call.Method == "" {
		spec.Load.Body = body
		return spec, nil
	}
	call.Calls, call.Data = rpc.Calls{}, body
	call.Proto = slices.DeleteFunc(slices.Clone(call.Proto), func(file string) bool { return file == "" }) // a descriptor set's place
	spec.Load.GRPC = &call
	return spec, nil
}

// named are the CPUs of a list, or those of a name such as node0, which are printed.
func (s stdio) named(whose, name string, list cpuset.Set) (cpuset.Set, error) {
	if name == "" {
		return list, nil
	}
	cpus, err := topology.Read(os.DirFS("/sys"), topology.Allowed()).Select(name)
	if err != nil {
		return nil, usageError("--cpus %s=%w", whose, err)
	}
	s.notef("--cpus %s=%s: CPUs %s", whose, name, cpuset.Format(cpus))
	return cpus, nil
}

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

// readURLs reads --url and --requests into the Spec's load, and returns the address. A
// method before the only URL is that of its requests.
func readURLs(f *plan.Flags, spec *plan.Spec, urls []string, std stdio) (base string, err error) {
	if len(urls) == 1 && f.Requests == "" {
		method, rest := requests.Method(urls[0])
		spec.Load.Method, urls = method, []string{rest}
	}
	base, spec.Load.Requests, err = readMix("--url", urls, f.Requests, std)
	return base, err
}

// readMix reads what is sent to one server: a URL, several of them with weights, or
// requests from a file for the address of one. place is where the URLs were given.
func readMix(place string, urls []string, file string, std stdio) (base string, mix []load.Request, err error) {
	switch {
	case file != "" && len(urls) == 0:
		return "", nil, usageError("--requests needs --url, the address of the server")
	case len(urls) == 0:
		return "", nil, nil
	}
	if _, mix, err = requests.FromURLs(target.ExpandPort(urls, 1)); err != nil {
		return "", nil, usageError("%s %w", place, err)
	}
	_, base = requests.Method(urls[0])
	if file == "" {
		return base, mix, nil
	}
	if len(urls) > 1 {
		return "", nil, usageError("use only one of --requests and several URLs")
	}
	mix, err = readRequests(file, std)
	return base, mix, err
}

func readRequests(file string, std stdio) ([]load.Request, error) {
	b, err := readInput("requests", file, requests.MostFile, std)
	if err != nil {
		return nil, err
	}
	r := requests.Reader{ReadFile: func(name string) ([]byte, error) { return folder.ReadRegular(name, requests.MostBody) }}
	list, err := r.Read(bytes.NewReader(b))
	if err != nil {
		return nil, usageError("--requests %s: %w", file, err)
	}
	return list, nil
}
