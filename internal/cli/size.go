package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/procfit/procfit/internal/measure/plan/field"
)

func newSize(std stdio) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "size --slo LATENCY [flags] [-- COMMAND ARG…]",
		Short: "Find the cheapest CPU limit, replicas and GOMAXPROCS for a latency objective",
		Long: `Find how many requests per second each setting of a server carries while it keeps a
latency objective, such as a p99 of 20 ms. A setting is a value of GOMAXPROCS under one
of the CPU limits and with one of the numbers of replicas.

With --rate procfit names the cheapest setting that carries that rate within the
objective, by --price, or by its CPU limits. Without --rate it reports the highest rate of
each setting.

The server is started for each trial, as in procfit sweep: {port} in the URL and in the
command or --env is a free port. Without a command, procfit measures its built-in
practice service.`,
		Example: `  procfit size --slo p99=50ms --url http://127.0.0.1:{port}/ -- ./server -addr :{port}
  procfit size --slo p99=50ms --rate 300 --limit 1,0.5 --url http://127.0.0.1:{port}/ -- ./server -addr :{port}
  procfit size --slo p99=50ms --rate 300 --limit 500m --replicas 1,2 --url http://127.0.0.1:{port}/ -- ./server -addr :{port}`,
	}
	o := newSizeOptions(std, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.command = args
		if err := o.prepare(std); err != nil {
			return err
		}
		if !o.has("slo") {
			return usageError("size needs --slo, the latency to keep; try: procfit size --slo p99=20ms …")
		}
		s, err := o.resolve(std)
		if err != nil {
			return err
		}
		return o.onThisMachine(cmd.Context(), std, s)
	}
	return cmd
}

// newSizeOptions are the flags of procfit size: a sweep within an objective.
func newSizeOptions(std stdio, cmd *cobra.Command) *sweepOptions {
	o := &sweepOptions{newMeasurement("size")}
	names := slices.Concat(except(programFields, "prepare"), []string{"build", "go"}, except(valueFields, "metric", "replicas"), except(loadFields, "rate", "load"), callFields, cpuFields, stopFields)
	fields := field.Take(o.spec.Fields(), append(field.Named(names...),
		field.Field{Name: "slo", Help: "the latency to keep: p99=20ms", Often: true},
		field.Field{Name: "rate", Help: "requests per second to carry (default the most)"},
		field.Field{Name: "replicas", Often: true}, field.Field{Name: "price", Often: true})...)
	o.bind(std, cmd, slices.Concat(fields, o.own(), o.fromFile()))
	return o
}

// except are the names but for some.
func except(names []string, but ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(but, name) })
}
