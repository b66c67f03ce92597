// Package maxprocs makes GOMAXPROCS fit the program's CPU limits and affinity:
// [Set] once, [Watch] as long as the program runs, [Start] where the runtime alone
// does not, all with the same options.
//
// # Model
//
// What fits is the tightest limit of all groups from the program's own up to the
// root, or the affinity where that is less, without what Reserve leaves to others;
// rounded up, or down with a reserve, unless an option says otherwise, and at
// least 1. A valid GOMAXPROCS in the environment is left in
// force. That is the policy Fit of package facts, which tells what it rests on
// with every reason, for other processes and other policies too.
//
// Package auto calls Start when it is imported, package slogger tells log/slog, and
// package metrics shows the numbers to Prometheus.
//
// # Limits
//
//   - A limit that cannot be read or understood is reported as an error, which
//     errors.Is tells apart: see ErrMalformed. What
//     else is known may then lower GOMAXPROCS, and never raises it.
//   - Groups above a container's cgroup namespace or bind mount cannot be seen
//     from inside it, by anyone.
//   - Outside Linux the affinity is runtime.NumCPU and there are no limits, so
//     that something changes only if an option demands it, or if code has set
//     another value.
package maxprocs
