// Package reporttest makes Results for the tests of the report: a typical one,
// one of several groups with a gate, one whose every text is hostile, one of the
// largest size, and those that are shown otherwise: a gate alone, benchmarks, none
// valid. They are built by hand, not analysed, so that a report's
// golden files move only when the report does. The figures follow the shapes of
// real sweeps; the noise comes from a fixed sequence.
package reporttest
