// Package number writes quantities: one formatter for each unit, so that a latency
// reads the same in a table, on a page and in a message.
//
// A measured quantity has three significant digits, zeros included, since they say how
// exact it is: "4.10 ms", "264 µs", "11.8k req/s". All digits before the point are kept.
// What somebody chose, such as an objective or the tick of an axis, is written without
// the zeros behind the point (Short): "20 ms". There is a space before a unit, but none
// before a percent sign: "5%". What is not a finite number is "unknown".
//
// Shares have fewer digits, and counts in sentences have more: see Percent, Share and
// Count. The package does not know what the quantities mean, and it does not parse.
package number
