// Package svg draws an execution trace: a row for each P, a bar for each span, an
// arrow from the P that a goroutine was stolen from at the time when it began
// elsewhere. Each goroutine of the key, those that the drawing shows longest, has a
// colour that no other has; grey are the others, and the runtime's own. The drawing
// stands alone, light or dark as the reader's system is, and holds no script.
package svg
