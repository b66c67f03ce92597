package journal

// Block is what a race runs next, written before the first of its trials, so that a
// run that goes on completes what was begun, whatever it would choose today.
type Block struct {
	Kind  string `json:"kind"`
	Block int    `json:"block"` // from 0, over all groups
	Arms  []Arm  `json:"arms"`  // all of one group, in the order to run
	Why   string `json:"why"`   // a code: what the block is to tell
}
