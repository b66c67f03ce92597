// Package foreign reads what load generators print: wrk, wrk2, hey, oha, vegeta,
// fortio, k6, ghz, h2load, and procfit load itself when it runs elsewhere.
//
// # Model
//
// A generator is told by what it printed, so that it may run behind ssh or a script;
// a word of the command that names it only tells whose output could not be read. Of
// its figures a Report has those that it printed, in seconds, and the Clock: what its
// latency counts from. That decides whether the latency may be judged. A server that
// stalls for a second makes a blocking generator send nothing for a second: of
// thousands of late requests it counts as many as it has connections.
//
// # Limits
//
// Only a summary is read: percentiles of several replicas or generators are not
// joined. The formats are those of the versions in testdata, each from a run of its
// own, but for wrk2's, which is from its project's documentation, and oha's, which is by
// its project's schema.
package foreign
