// Package page makes documents of a sched.Summary. Text from outside is printable here.
//
// Curves are of the longest process of the trace, as its readings are. A point
// stands from its first sample until the next point, but no longer than a few
// intervals: where nothing was seen, nothing is drawn.
package page
