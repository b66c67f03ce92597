// Package prometheus asks a Prometheus, or whatever else speaks its HTTP API, for one
// number at a time.
//
// A query is to come to a single number: several series are an error, since to choose
// among them would be a guess. No series, and a number that is none (a quantile of
// nothing), are no value and no error.
//
// What it does not cover: ranges, and native histograms that no function was applied to.
package prometheus
