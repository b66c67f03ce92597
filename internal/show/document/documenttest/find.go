package documenttest

import "github.com/procfit/procfit/internal/show/document"

// Find are the blocks of a type, also those within others.
func Find[T document.Block](blocks []document.Block) (list []T) {
	for _, b := range blocks {
		if x, is := b.(T); is {
			list = append(list, x)
		}
		switch b := b.(type) {
		case document.Section:
			list = append(list, Find[T](b.Blocks)...)
		case document.Panel:
			list = append(list, Find[T](b.Blocks)...)
		case document.Folds:
			for _, f := range b.List {
				list = append(list, Find[T](f.Blocks)...)
			}
		}
	}
	return list
}

// File is a file that a report has the contents of; empty: it has none.
func File(d *document.Document, name string) string {
	for _, f := range Find[document.Folds](d.Blocks) {
		for _, one := range f.List {
			if one.Summary == "Contents of "+name {
				return one.Blocks[0].(document.Code).Text
			}
		}
	}
	return ""
}
