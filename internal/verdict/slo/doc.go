// Package slo is a service level objective for latency, the highest rate at which a
// program meets it, and what a setting costs.
//
// # Model
//
// An [Objective] bounds one quantile of the latency: p99=20ms. A [Search] offers
// rates, each in an open loop of its own, and narrows the range between the highest
// rate that met the objective and the lowest that did not. The capacity is where
// the latency crosses the bound between those two, its logarithm taken as straight
// in the logarithm of the rate.
//
// A [Price] makes settings of different CPU limits and replicas comparable.
//
// # Limits
//
//   - Each rate is tried once in a trial: how far one may stray shows in the trials'
//     spread, not here.
//   - Latency is taken to rise with the rate. A program that answers later at a low
//     rate, as its CPUs sleep, is searched from above and answers for the higher one.
package slo
