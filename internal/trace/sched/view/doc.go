// Package view is a sched.Summary for eyes: what the renderers lay out, with
// every number worded and every position a fraction of its axis. Text from
// outside is printable here.
//
// Charts are of the longest process of the trace, as its readings are. A point
// stands from its first sample until the next point, but no longer than a few
// intervals: where nothing was seen, nothing is drawn.
package view
