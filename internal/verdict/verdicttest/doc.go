// Package verdicttest generates journals whose truth is known, so that a test can
// ask whether an analysis finds it.
//
// A trial's throughput is the setting's true value times a drift that all settings
// share (a random walk over the trials, in the order in which they ran), times
// a log-normal factor of its own; now and then a trial is an outlier. Its p99
// has a wider log-normal factor, and moves against the drift. What the kernel
// would have counted is made up to fit, so that a report has something to show.
//
// The same Config gives the same journal.
package verdicttest
