package live

// Judge says what the slices prove. It may be asked after every block.
func Judge(r Rules, list []Slice) Look {
	var l Look
	for _, v := range r.Values {
		l.Values = append(l.Values, Judged{Procs: v, Outcome: Open})
	}
	return l
}
