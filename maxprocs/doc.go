// Package maxprocs sets GOMAXPROCS to match the CPU limits and the affinity of the
// program: [Set] once, [Watch] for as long as the program runs, and [Start] only if the
// runtime alone does not do it. All three take the same options.
//
// # Model
//
// The value is the tightest limit of all cgroups from the program's own to the root, or
// the affinity if that is lower, minus what Reserve keeps for others. It is rounded up,
// or down with a reserve, and is at least 1; options change this. A valid GOMAXPROCS in
// the environment is kept. This is the policy Fit of package facts, which gives every
// reason and also works for other processes and other policies.
//
// Importing package auto calls Start. Package slogger logs to log/slog, and package
// metrics exports the numbers to Prometheus.
//
// # Limits
//
//   - A limit that cannot be read or is not valid is reported as an error; use errors.Is
//     to distinguish the causes, see ErrMalformed. The known limits may then lower
//     GOMAXPROCS, but never raise it.
//   - Parent cgroups outside a container's cgroup namespace or bind mount cannot be seen
//     from inside the container.
//   - Outside Linux the affinity is runtime.NumCPU and there are no limits. The value
//     then changes only by an option, or if code has set another value.
package maxprocs
