package manifest

func (c *Checker) mend(path string, list []*judged) {}
