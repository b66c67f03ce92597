// Package pagetest makes Results for the tests of the report: a typical one,
// one of several groups with a gate, one whose every text is hostile, one of the
// largest size, and those that are shown otherwise: a gate alone, benchmarks, none
// valid, a model's. Their trials come from stattest and their judgement from stat, so
// that a golden file shows what a sweep would. The same call gives the same Result.
package pagetest
