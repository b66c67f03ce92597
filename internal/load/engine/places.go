package engine

// place is where one request at a time is under way on a link.
type place struct {
	exchange
	link  *link
	index int

	busy  bool // has a request; under the pool's lock, as are again and the exchange
	again bool // which is to be sent on the link's next connection
	sent  bool // which is on the connection; under the link's lock
}

// places is a queue of the idle ones, in the order in which they became free, so
// that the replicas share the load evenly.
type places struct {
	ring    []*place
	head, n int
}

func (q *places) push(x *place) {
	q.ring[(q.head+q.n)%len(q.ring)] = x
	q.n++
}

func (q *places) pop() *place {
	x := q.ring[q.head]
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	return x
}

// drop takes a link's places out. That is rare, so it walks.
func (q *places) drop(l *link) {
	for range q.n {
		if x := q.pop(); x.link != l {
			q.push(x)
		}
	}
}
