package secret

import (
	"slices"
	"strings"
	"sync"
)

// Keeper is what one run of procfit must not show: the credentials of its command line, those
// of the files that it read, and the values of the variables that either names. It is the only
// one who looks such a variable up, so that no message has its value. A journal has it only in
// the names of a cluster's object, its namespace and its container.
type Keeper struct {
	args   []string
	lookup func(name string) (value string, ok bool)

	mu     sync.Mutex
	more   []string          // in addition to those of the command line
	hidden *strings.Replacer // nil: not built of both yet
}

// NewKeeper is for a command line; lookup is os.LookupEnv.
func NewKeeper(args []string, lookup func(name string) (value string, ok bool)) *Keeper {
	return &Keeper{args: args, lookup: lookup}
}

// Variable is the value of a variable of procfit's own environment.
func (k *Keeper) Variable(name string) (value string, ok bool) {
	value, ok = k.lookup(name)
	if ok {
		k.keep(value)
	}
	return value, ok
}

// Found takes the credentials that were taken out of texts.
func (k *Keeper) Found(f Finder) { k.keep(f.found...) }

func (k *Keeper) keep(values ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, v := range values {
		if !slices.Contains(k.more, v) {
			k.more, k.hidden = append(k.more, v), nil
		}
	}
}

// In is a message without what is kept. A nil Keeper keeps nothing.
func (k *Keeper) In(message string) string {
	if k == nil {
		return message
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.hidden == nil {
		k.hidden = find(k.args, k.more)
	}
	return k.hidden.Replace(message)
}

// Quoted is what a program or a server said, without what is kept and without other
// credentials.
func (k *Keeper) Quoted(text string) string { return k.In(Text(text)) }
