package sched

// names keeps one string for each wait reason, so that counting them allocates
// nothing. The runtime knows fewer than 60.
type names struct{ known map[string]string }

const (
	maxNames   = 256 // in a log
	maxReasons = 64  // in a sample
	maxName    = 64  // bytes
)

func (t *names) count(reasons *[]Reason, name []byte) {
	list := *reasons
	for i := range list {
		if list[i].Name == string(name) {
			list[i].Count++
			return
		}
	}
	kept := t.keep(name)
	if len(list) >= maxReasons-1 {
		kept = OtherReason
	}
	if kept == OtherReason {
		for i := range list {
			if list[i].Name == OtherReason {
				list[i].Count++
				return
			}
		}
	}
	*reasons = append(list, Reason{Name: kept, Count: 1})
}

func (t *names) keep(name []byte) string {
	if s, ok := t.known[string(name)]; ok {
		return s
	}
	if len(t.known) >= maxNames || len(name) > maxName {
		return OtherReason
	}
	for _, c := range name {
		if c < ' ' || c > '~' {
			return OtherReason // the log may be hostile, and a terminal obeys escapes
		}
	}
	if t.known == nil {
		t.known = make(map[string]string)
	}
	s := string(name)
	t.known[s] = s
	return s
}
