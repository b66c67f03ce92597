// Package core sets GOMAXPROCS to what the program's CPU limits and affinity
// allow, and is small: it imports neither fmt nor os nor time, and adds about a
// tenth of a megabyte to an empty program.
//
// [Set] is the same function as that of package maxprocs, which has all the
// rest: facts with their provenance, decisions with every reason, other
// processes, and Watch. A program that imports fmt anyway has no need of this
// package.
//
// # Model
//
// The number that fits is that of the policy Fit of package maxprocs: the
// tightest limit of all groups from the program's own up to the root, or the
// affinity where that is less; rounded up unless an option says otherwise, and
// at least 1. A valid GOMAXPROCS in the environment is left in force.
//
// # Limits
//
//   - A limit that cannot be read or understood is reported as an error. What
//     else is known may then lower GOMAXPROCS, and never raises it.
//   - Set looks once. See Watch of package maxprocs for what changes later.
//   - Outside Linux the affinity is runtime.NumCPU and there are no limits, so
//     that Set changes something only if an option demands it, or if code has
//     set another value.
package core
