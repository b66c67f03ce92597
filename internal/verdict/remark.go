package verdict

// Remark is one thing that a result says: a struct of its own for each, with the numbers that its
// words need. It is made where it is found; package page has a row of words for each.
type Remark interface{ Code() Code }

// Code is what result.json calls a remark; it is stable. A remark that is not there by its code
// has none.
type Code string

// Warning is a remark that weakens the result.
type Warning struct {
	Group *int // index into groups; nil: it is of the whole run
	Remark
}

// AtSetting is part of a remark about one setting, which result.json names.
type AtSetting struct{ Setting string }

// OfSetting is its label.
func (a AtSetting) OfSetting() string { return a.Setting }

// SettingFigure is a setting with a number that a remark has of it.
type SettingFigure struct {
	Label string
	Value float64
}
