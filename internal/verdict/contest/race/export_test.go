package race

// Without is the rules without one of those that noisy machines made necessary.
func (r Rules) Without(name string) Rules {
	r.without = rule(name)
	return r
}
