// Package course is the way of a server's trial through its loops, the same wherever
// the target runs: a closed loop for throughput, then an open one at the rate that all
// settings get, or as many as the search for the highest rate within an objective
// takes. A server that runs already gets the open loop alone. Whoever measures gives
// the one loop; what the loops come to, package trial judges.
package course
