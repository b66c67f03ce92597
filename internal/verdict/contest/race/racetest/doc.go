// Package racetest runs races against curves whose truth is known, under noises as
// they are on real machines, and counts how they end. The noise is not the model's own:
// outliers, two modes, bursts and a machine that drifts are in no formula of package
// race.
package racetest
